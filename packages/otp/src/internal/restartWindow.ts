/**
 * How many restarts a supervisor allows.
 *
 * WINDOW1. `allows` is true for exactly `limit` restarts within any `seconds`; older ones do not count.
 */
export class RestartWindow {
  readonly limit: number
  readonly #milliseconds: number
  #times: Array<number> = []
  /** All restarts ever tried, for the observer. */
  total = 0

  constructor(limit: number, seconds: number) {
    this.limit = limit
    this.#milliseconds = seconds * 1000
  }

  /** Takes note of a restart; answers whether it may happen. */
  allows(now: number): boolean {
    this.total++
    this.#times = this.#times.filter((time) => now - time <= this.#milliseconds)
    this.#times.push(now)
    return this.#times.length <= this.limit
  }
}
