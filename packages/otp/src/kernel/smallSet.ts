/**
 * A set that mostly holds one thing.
 *
 * Most processes have at most one or two links, watchers and resources, and a `Set` uses more memory than the rest of the
 * process.
 *
 * FEW1. It holds each thing once, in the order of adding.
 * FEW2. Adding and removing take constant time.
 */
export class SmallSet<A extends object> {
  /** Older than everything in `#others`. */
  #one: A | undefined = undefined
  /** The second thing itself, or a `Set` of several. */
  #others: A | Set<A> | undefined = undefined

  get size(): number {
    const others = this.#others
    return (this.#one === undefined ? 0 : 1) + (others instanceof Set ? others.size : others === undefined ? 0 : 1)
  }

  /** The current members. */
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
