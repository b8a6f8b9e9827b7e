/**
 * A set of mostly one thing.
 *
 * A link, a watcher, a resource: most processes have at most one or two of each, and a set weighs more than the rest of the
 * process.
 *
 * FEW1. It holds everything once, in the order it was added.
 * FEW2. Adding and removing cost the same however many there are.
 */
export class SmallSet<A extends object> {
  /** Older than everything in `#others`. */
  #one: A | undefined = undefined
  /** The second thing as it is, more of them in a set. */
  #others: A | Set<A> | undefined = undefined

  get size(): number {
    const others = this.#others
    return (this.#one === undefined ? 0 : 1) + (others instanceof Set ? others.size : others === undefined ? 0 : 1)
  }

  /** What is in it now. */
  get all(): ReadonlyArray<A> {
    const one = this.#one
    const others = this.#others
    if (others instanceof Set) return one === undefined ? [...others] : [one, ...others]
    if (others === undefined) return one === undefined ? [] : [one]
    return one === undefined ? [others] : [one, others]
  }

  has(thing: A): boolean {
    const others = this.#others
    return this.#one === thing || others === thing || (others instanceof Set && others.has(thing))
  }

  add(thing: A): void {
    const others = this.#others
    if (this.#one === thing || others === thing) return
    if (others instanceof Set) {
      if (this.#one === undefined && others.size === 0) this.#one = thing
      else others.add(thing)
    } else if (others !== undefined) {
      if (this.#one === undefined) {
        this.#one = others
        this.#others = thing
      } else this.#others = new Set([others, thing])
    } else if (this.#one === undefined) this.#one = thing
    else this.#others = thing
  }

  delete(thing: A): void {
    const others = this.#others
    if (this.#one === thing) this.#one = undefined
    else if (others === thing) this.#others = undefined
    else if (others instanceof Set) others.delete(thing)
  }
}
