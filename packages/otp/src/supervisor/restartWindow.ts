/**
 * The limit on a supervisor's restarts. `childRestarts.ts` restarts the children.
 *
 * WINDOW1. `allows` is true for exactly `limit` restarts within any `seconds`; older ones do not count.
 */
export class RestartWindow {
  readonly limit: number
  readonly seconds: number
  #times: Array<number> = []
  #oldest = 0
  /** The number of all attempted restarts, for the observer. */
  total = 0

  constructor(limit: number, seconds: number) {
    this.limit = limit
    this.seconds = seconds
  }

  /** Records a restart; returns whether it is allowed. */
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
