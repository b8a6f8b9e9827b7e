/**
 * How long an adapter has said nothing.
 *
 * Owns: one timer, on the system's clock. Only the time counts in which the adapter owes an answer, not the time its reader
 * takes.
 *
 * SILENCE1. It is broken once at most: when an answer was owed for the whole time.
 * SILENCE2. An answer costs a look at the clock, and no timer: the one there is looks again when it is due.
 * SILENCE3. After `end` there is no timer.
 */
import type { Clock } from "@troupe/otp"
import { AdapterError } from "../ChatError.ts"

/** Watches over an adapter's silence. */
export class Silence {
  readonly #clock: Clock.Clock
  readonly #ms: number
  readonly #broken: (error: AdapterError) => void
  #owedSince: number | undefined
  #timer: unknown

  constructor(clock: Clock.Clock, ms: number, broken: (error: AdapterError) => void) {
    this.#clock = clock
    this.#ms = ms
    this.#broken = broken
  }

  /** The adapter owes an answer from now on. */
  asked(): void {
    if (this.#ms === Infinity) return
    this.#owedSince = this.#clock.now()
    if (this.#timer === undefined) this.#await(this.#ms)
  }

  answered(): void {
    this.#owedSince = undefined
  }

  end(): void {
    this.#owedSince = undefined
    if (this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #await(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#look(), ms)
  }

  #look(): void {
    this.#timer = undefined
    if (this.#owedSince === undefined) return
    const left = this.#owedSince + this.#ms - this.#clock.now()
    if (left > 0) return this.#await(left)
    this.#owedSince = undefined
    this.#broken(
      new AdapterError("timeout", {
        message: `The adapter said nothing for ${this.#ms} ms; try again, or set streamIdleTimeoutMs`
      })
    )
  }
}
