/**
 * The observation of one process: its trace and its statistics.
 *
 * PROBE1. A tracer that throws is removed; neither the process nor other tracers are affected.
 * PROBE2. Events that a tracer causes itself are not traced.
 * PROBE3. A probe is in its watch exactly while it has a tracer or counts.
 */
import type { ExitReason, Pid } from "../core/index.ts"

/** The counts since the statistics were switched on. */
export interface Counts {
  readonly since: number
  received: number
  sent: number
  handled: number
  busyFor: number
}

export type Tracer = (event: TraceEvent) => void

export class Probe {
  readonly #failed: (error: unknown) => void
  readonly tracers = new Set<Tracer>()
  counts: Counts | undefined = undefined
  #tracing = false

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  get needed(): boolean {
    return this.tracers.size > 0 || this.counts !== undefined
  }

  trace(event: TraceEvent): void {
    if (this.#tracing) return
    this.#tracing = true
    for (const tracer of this.tracers) {
      try {
        tracer(event)
      } catch (error) {
        this.tracers.delete(tracer)
        this.#failed(error)
      }
    }
    this.#tracing = false
  }
}

/**
 * The actions of a traced process.
 *
 * **Details**
 *
 * - `Received`: a message was put into its mailbox, by the process that had its turn.
 * - `Handled`: it handled a message, within `duration` milliseconds; for `blocking` of them it blocked the thread.
 * - `Sent`: in its turn it sent a message or replied to a call, to a process or to a caller that is not a process.
 * - `Ended`: it is dead. No events follow.
 */
export type TraceEvent =
  | { readonly _tag: "Received"; readonly message: unknown; readonly from: Pid | undefined }
  | { readonly _tag: "Handled"; readonly message: unknown; readonly duration: number; readonly blocking: number }
  | { readonly _tag: "Sent"; readonly message: unknown; readonly to: Pid | undefined }
  | { readonly _tag: "Ended"; readonly reason: ExitReason }
