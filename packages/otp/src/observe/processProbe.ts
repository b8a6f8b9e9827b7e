/**
 * What is watched of one process: its trace and its statistics.
 *
 * PROBE1. A tracer that throws is dropped; it hurts neither the process nor the other tracers.
 * PROBE2. What a tracer causes itself is not traced.
 * PROBE3. A probe is in its watch exactly while it has a tracer or counts.
 */
import type { TraceEvent } from "./Sys.ts"

/** What was counted since the statistics were switched on. */
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
