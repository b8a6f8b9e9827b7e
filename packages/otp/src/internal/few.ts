/**
 * A set of mostly one thing.
 *
 * A link, a watcher, a resource: most processes have at most one of each, and a set for one weighs more than the rest of
 * the process.
 *
 * FEW1. It holds everything once, in the order it was added.
 * FEW2. Adding and removing cost the same however many there are.
 */
export class Few<A extends object> {
  /** Older than everything in `#others`. */
  #one: A | undefined = undefined
  #others: Set<A> | undefined = undefined

  get size(): number {
    return (this.#one === undefined ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** What is in it now. */
  get all(): ReadonlyArray<A> {
    const one = this.#one === undefined ? [] : [this.#one]
    return this.#others === undefined ? one : [...one, ...this.#others]
  }

  has(thing: A): boolean {
    return this.#one === thing || this.#others?.has(thing) === true
  }

  add(thing: A): void {
    if (this.#one === thing) return
    if (this.#one === undefined && (this.#others === undefined || this.#others.size === 0)) {
      this.#one = thing
      return
    }
    this.#others ??= new Set()
    this.#others.add(thing)
  }

  delete(thing: A): void {
    if (this.#one === thing) this.#one = undefined
    else this.#others?.delete(thing)
  }
}
