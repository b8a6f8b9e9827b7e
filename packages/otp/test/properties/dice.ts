/** Chance that can be had again: the same seed gives the same throws. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 0x9e3779b9) >>> 0
  }

  /** A whole number from 0 up to, but without, `below`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  /** One of several, each as likely. */
  one<A>(of: readonly [A, ...ReadonlyArray<A>]): A {
    return of[this.below(of.length)] ?? of[0]
  }

  /** Happens one time in so many. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }
}
