/**
 * The event stream of a step or a chat that runs in its own process.
 *
 * Owns: that process, which ends when the reader leaves. Does not own the work of the process.
 *
 * STREAM-R1. Leaving (`return`, a thrown error, `await using`) ends the process and waits until its resources are
 *            released.
 * STREAM-R2. When the process exits normally, the stream ends. For any other exit reason, `next` rejects.
 * STREAM-R3. No listener stays on the caller's signal.
 * STREAM-R4. When the signal is aborted, the process ends, also without a reader. Its last events are kept for the
 *            reader.
 */
import { Channel, OtpError, type Pid, Process, StateMachine } from "@troupe/otp"
import type { Event } from "./Event.ts"
import type { Outlet } from "./outlet.ts"

/**
 * The events of a running step or chat, for one reader.
 *
 * **Details**: an async iterator. Leaving a `for await` loop calls `return`, which resolves when the resources are
 * released, or the drain deadline has passed.
 */
export class EventStream<Output = unknown, Cancel = never> extends Channel.Reader<Event> {
  readonly #pid: Pid
  readonly #outlet: Outlet
  readonly #output: () => Output | undefined
  readonly #drainMs: number

  constructor(
    pid: Pid<Cancel>,
    outlet: Outlet,
    options: {
      readonly cancel: Cancel
      readonly output: () => Output | undefined
      readonly signal: AbortSignal | undefined
      readonly drainMs: number
      readonly trace: { readonly close: (failure: { readonly error: unknown } | undefined) => void } | undefined
    }
  ) {
    super()
    const { cancel, output, signal, drainMs, trace } = options
    this.#pid = pid
    this.#outlet = outlet
    this.#output = output
    this.#drainMs = drainMs
    const onAbort = () => {
      Process.send(pid, cancel)
      outlet.flush()
    }
    signal?.addEventListener("abort", onAbort)
    // The signal may have been aborted while the process started, for example by the adapter.
    if (signal?.aborted === true && Process.isAlive(pid)) onAbort()
    Process.onExit(pid, (reason) => {
      signal?.removeEventListener("abort", onAbort)
      if (outlet.over) return
      const refusal = refusalIn(output())
      if (refusal !== undefined) outlet.fail(refusal)
      else if (reason === "normal") outlet.close()
      else outlet.fail(reason instanceof Error ? reason : new OtpError.ProcessExit({ pid, reason }))
    })
    outlet.whenEnded((failure) => {
      trace?.close(failure)
      if (failure !== undefined) this.#endProcess()
    })
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    return this.#outlet.next()
  }

  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#outlet.leave()
    this.#endProcess()
    await this.#outlet.released(Process.systemOf(this.#pid).clock, this.#drainMs)
    return { done: true, value: undefined }
  }

  #endProcess(): void {
    Process.exit(this.#pid, "shutdown")
    // A process that traps exits gets the signal as a message; this call ends it.
    StateMachine.stop(this.#pid, "shutdown")
  }

  /** The output of the machine; `undefined` while it runs. */
  output(): Output | undefined {
    return this.#output()
  }
}

const refusalIn = (output: unknown): unknown =>
  typeof output === "object" && output !== null && (output as { readonly type?: unknown }).type === "refused"
    ? (output as { readonly error?: unknown }).error
    : undefined
