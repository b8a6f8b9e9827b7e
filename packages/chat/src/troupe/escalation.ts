/**
 * Escalates what waits for a person too long: marks the waits in the store, and calls `onEscalate` for each.
 *
 * Owns: one timer of a Troupe, while it has `escalateAfterMs`. Does not own the waits, nor the marks, which the store has.
 *
 * ESCALATE1. A wait is marked once, over restarts and over all programs that share the store. Its conversation needs no process.
 * ESCALATE2. `onEscalate` is called after the mark, at most once for a wait, by the program that marked it. When it fails, the error
 *            is reported as a crash, and the others are called.
 * ESCALATE3. A wait is escalated at most a quarter of `escalateAfterMs`, or one minute if that is less, after its time. A look at the
 *            store marks a bounded number; more are marked at once after it.
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"
import type { Wait } from "../store/index.ts"

/** How many waits are marked together. */
const atOnce = 100

const longestMs = 60_000

/** When waits are escalated, and how. `report` is called with an error of `onEscalate`. */
export interface EscalationParts {
  readonly clock: Clock.Clock
  readonly afterMs: number
  readonly mark: (askedUntil: number, limit: number) => Promise<ReadonlyArray<Wait>>
  readonly onEscalate: ((wait: Wait) => unknown) | undefined
  readonly report: (error: unknown) => void
}

export class Escalation {
  readonly #parts: EscalationParts
  #timer: unknown
  #isOver = false

  constructor(parts: EscalationParts) {
    this.#parts = parts
  }

  /** Looks at the store now, and from then on until `stop`. */
  start(): void {
    void this.#look()
  }

  stop(): void {
    this.#isOver = true
    if (this.#timer !== undefined) this.#parts.clock.clearTimeout(this.#timer)
  }

  async #look(): Promise<void> {
    const { clock, afterMs, mark } = this.#parts
    this.#timer = undefined
    let count = atOnce
    while (count === atOnce && !this.#isOver) {
      const marked = await mark(clock.now() - afterMs, atOnce).catch((): ReadonlyArray<Wait> => [])
      count = marked.length
      for (const wait of marked) this.#notify(wait)
    }
    if (!this.#isOver) this.#timer = inBackground(clock, () => void this.#look(), Math.min(afterMs / 4, longestMs))
  }

  /** ESCALATE2 */
  #notify(wait: Wait): void {
    const { onEscalate, report } = this.#parts
    try {
      void Promise.resolve(onEscalate?.(wait)).catch(report)
    } catch (error) {
      report(error)
    }
  }
}
