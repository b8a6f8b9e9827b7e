/**
 * How long an adapter has said nothing.
 *
 * Owns: one timer, on the system's clock. Only the time counts in which the adapter owes an answer, not the time its reader
 * takes.
 *
 * SILENCE1. It is broken once at most: when an answer was owed for the whole time, and no later than an eighth of that time
 *           after.
 * SILENCE2. A question and its answer cost a count each, neither a timer nor a look at the clock: the timer there is looks
 *           from time to time whether the count has changed.
 * SILENCE3. After `end` there is no timer.
 */
import type { Clock } from "@troupe/otp"
import { AdapterError } from "../errors/index.ts"

/** So often it is looked at in the time that an answer may take (SILENCE1). */
const looks = 8

/** Watches over an adapter's silence. */
export class IdleTimeout {
  readonly #clock: Clock.Clock
  readonly #ms: number
  readonly #broken: (error: AdapterError) => void
  /** Questions and answers: while it is odd, an answer is owed. */
  #count = 0
  /** The count as it was last seen to change, and when. */
  #seen = 0
  #seenAt = 0
  #timer: unknown

  constructor(clock: Clock.Clock, ms: number, broken: (error: AdapterError) => void) {
    this.#clock = clock
    this.#ms = ms
    this.#broken = broken
  }

  /** The adapter owes an answer from now on. */
  asked(): void {
    this.#count |= 1
    if (this.#timer === undefined && this.#ms !== Infinity) this.#begin()
  }

  answered(): void {
    this.#count += this.#count & 1
  }

  end(): void {
    this.answered()
    if (this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #begin(): void {
    this.#seen = this.#count
    this.#seenAt = this.#clock.now()
    this.#await(this.#ms)
  }

  #await(leftMs: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#look(), Math.min(leftMs, this.#ms / looks))
  }

  #look(): void {
    this.#timer = undefined
    if ((this.#count & 1) === 0) return
    if (this.#count !== this.#seen) return this.#begin()
    const left = this.#seenAt + this.#ms - this.#clock.now()
    if (left > 0) return this.#await(left)
    this.answered()
    this.#broken(
      new AdapterError("timeout", {
        message: `The adapter said nothing for ${this.#ms} ms; try again, or set streamIdleTimeoutMs`
      })
    )
  }
}
