/**
 * The idle timeout of an adapter's stream.
 *
 * Owns: one timer, on the system's clock. The timeout counts only while a pull is pending, not while the reader is busy.
 *
 * SILENCE1. The timeout fires at most once: when one pull was pending for the whole time, and at most an eighth of that
 *           time later.
 * SILENCE2. A pull and its answer increment a counter; they set no timer and do not read the clock. The one timer checks
 *           periodically whether the counter has changed.
 * SILENCE3. After `end` there is no timer.
 * ASRC5. When an adapter yields no requested event for longer than `streamIdleTimeoutMs`, that counts as an `AdapterError`
 *        (`timeout`) thrown by it, and its iterator is released.
 */
import type { Clock } from "@troupe/otp"
import { AdapterError } from "../errors/index.ts"

/** The number of checks within the timeout (SILENCE1). */
const looks = 8

/** The idle timeout of one stream. */
export class IdleTimeout {
  readonly #clock: Clock.Clock
  readonly #ms: number
  readonly #broken: (error: AdapterError) => void
  /** Counts pulls and answers: odd while a pull is pending. */
  #count = 0
  /** The count at the last check that saw it change, and the time of that check. */
  #seen = 0
  #seenAt = 0
  #timer: unknown

  constructor(clock: Clock.Clock, ms: number, broken: (error: AdapterError) => void) {
    this.#clock = clock
    this.#ms = ms
    this.#broken = broken
  }

  /** A pull is pending from now on. */
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
