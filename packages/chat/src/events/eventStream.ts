/**
 * The event stream of a step or a chat that runs in its own process.
 *
 * Owns: that process, which begins with the first event that is read, and ends when the reader leaves. Does not own the work of the process.
 *
 * STREAM-R1. Leaving (`return`, a thrown error, `await using`) ends the process and waits until its resources are
 *            released.
 * STREAM-R2. When the process exits normally, the stream ends. For any other exit reason, `next` rejects.
 * STREAM-R3. No listener stays on the caller's signal.
 * STREAM-R4. When the signal is aborted, the process ends, also without a reader. Its last events are kept for the
 *            reader.
 * STREAM-R5. The first `next` starts the process, so a stream that is never read sends no request and holds nothing.
 */
import { Channel, OtpError, type Pid, Process, StateMachine } from "@troupe/otp"
import type { Event } from "./Event.ts"
import type { Outlet } from "./outlet.ts"

/** The process of a step or a chat. */
interface Running<Output> {
  readonly pid: Pid
  /** Cancels its work, after the abort of the signal. */
  readonly cancel: () => void
  readonly output: () => Output | undefined
}

/** What a stream of events starts, and what ends it. */
interface Options<Output> {
  /** Starts the process. Called with the first `next` (STREAM-R5). */
  readonly start: () => Running<Output>
  /** Cancels the run when it is aborted. */
  readonly signal: AbortSignal | undefined
  /** How long `return` waits for the end of the run, in milliseconds. */
  readonly drainMs: number
  /** Closed when the run is over, with its failure. */
  readonly trace: { readonly close: (failure: { readonly error: unknown } | undefined) => void } | undefined
}

/**
 * The events of a step or a chat, for one reader.
 *
 * **Details**: an async iterator. The first `next` starts the work; a stream that is never read runs nothing. Leaving a
 * `for await` loop calls `return`, which resolves when the resources are released, or the drain deadline has passed.
 */
export class EventStream<Output = unknown> extends Channel.Reader<Event> {
  readonly #outlet: Outlet
  readonly #options: Options<Output>
  #running: Running<Output> | undefined

  constructor(outlet: Outlet, options: Options<Output>) {
    super()
    this.#outlet = outlet
    this.#options = options
  }

  /** Resolves with the next event; the first call starts the run. Rejects with the error that ended the run. */
  next(): Promise<IteratorResult<Event, undefined>> {
    return this.#running === undefined && !this.#outlet.over ? this.#first() : this.#outlet.next()
  }

  async #first(): Promise<IteratorResult<Event, undefined>> {
    try {
      this.#begin()
    } catch (error) {
      this.#outlet.leave()
      throw error
    }
    return this.#outlet.next()
  }

  #begin(): void {
    const { start, signal, trace } = this.#options
    const outlet = this.#outlet
    const { pid, cancel, output } = (this.#running = start())
    const onAbort = () => {
      cancel()
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
      if (failure !== undefined) endProcess(pid)
    })
  }

  /** Cancels the run, and resolves when it has ended, at the latest after `drainMs`. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#outlet.leave()
    if (this.#running !== undefined) {
      const { pid } = this.#running
      endProcess(pid)
      await this.#outlet.released(Process.systemOf(pid).clock, this.#options.drainMs)
    }
    return { done: true, value: undefined }
  }

  /** The output of the machine; `undefined` until it has ended. */
  output(): Output | undefined {
    return this.#running?.output()
  }
}

const endProcess = (pid: Pid): void => {
  Process.exit(pid, "shutdown")
  // A process that traps exits gets the signal as a message; this call ends it.
  StateMachine.stop(pid, "shutdown")
}

const refusalIn = (output: unknown): unknown =>
  typeof output === "object" && output !== null && (output as { readonly type?: unknown }).type === "refused"
    ? (output as { readonly error?: unknown }).error
    : undefined
