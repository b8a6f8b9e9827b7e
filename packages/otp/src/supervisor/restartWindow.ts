/**
 * How many restarts a supervisor allows.
 *
 * WINDOW1. `allows` is true for exactly `limit` restarts within any `seconds`; older ones do not count.
 */
export class RestartWindow {
  readonly limit: number
  readonly seconds: number
  #times: Array<number> = []
  #oldest = 0
  /** All restarts ever tried, for the observer. */
  total = 0

  constructor(limit: number, seconds: number) {
    this.limit = limit
    this.seconds = seconds
  }

  /** Takes note of a restart; answers whether it may happen. */
  allows(now: number): boolean {
    this.total++
    this.#times.push(now)
    while (now - (this.#times[this.#oldest] ?? now) > this.seconds * 1000) this.#oldest++
    if (this.#oldest * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#oldest)
      this.#oldest = 0
    }
    return this.#times.length - this.#oldest <= this.limit
  }
}
