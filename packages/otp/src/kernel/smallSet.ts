/**
 * A set that mostly holds one thing.
 *
 * Most processes have at most three links, watchers and resources, and a `Set` uses more memory than the rest of the
 * process.
 *
 * FEW1. It holds each thing once, in the order of adding; of links, those beyond three are in the order of CELLS3.
 * FEW2. Adding and removing take constant time.
 */
import { CellMap } from "./cellMap.ts"

/** A set of many things. */
interface ManySet<A> extends Iterable<A> {
  readonly size: number
  has(thing: A): boolean
  add(thing: A): unknown
  delete(thing: A): boolean
}

export class SmallSet<A extends object> {
  /** The oldest things, oldest first. They are older than everything in `#others`. */
  #one: A | undefined = undefined
  #two: A | undefined = undefined
  #three: A | undefined = undefined
  #others: ManySet<A> | undefined = undefined

  get size(): number {
    const few = this.#one === undefined ? 0 : this.#two === undefined ? 1 : this.#three === undefined ? 2 : 3
    return few + (this.#others?.size ?? 0)
  }

  /** The current members. */
  get all(): ReadonlyArray<A> {
    const one = this.#one
    const two = this.#two
    const three = this.#three
    if (this.#others !== undefined && this.#others.size > 0) {
      return [one, two, three, ...this.#others].filter((thing) => thing !== undefined)
    }
    if (one === undefined) return []
    if (two === undefined) return [one]
    return three === undefined ? [one, two] : [one, two, three]
  }

  has(thing: A): boolean {
    return this.#one === thing || this.#two === thing || this.#three === thing || this.#others?.has(thing) === true
  }

  add(thing: A): void {
    if (this.#one === undefined && this.#others === undefined) {
      this.#one = thing
      return
    }
    if (this.#one === thing || this.#two === thing || this.#three === thing) return
    if (this.#others !== undefined && this.#others.size > 0) this.#others.add(thing)
    else if (this.#one === undefined) this.#one = thing
    else if (this.#two === undefined) this.#two = thing
    else if (this.#three === undefined) this.#three = thing
    else {
      this.#others ??= this.many()
      this.#others.add(thing)
    }
  }

  /** The set for those that have no place in this object. */
  protected many(): ManySet<A> {
    return new Set()
  }

  delete(thing: A): void {
    if (this.#one === thing) {
      this.#one = this.#two
      this.#two = this.#three
      this.#three = undefined
    } else if (this.#two === thing) {
      this.#two = this.#three
      this.#three = undefined
    } else if (this.#three === thing) this.#three = undefined
    else this.#others?.delete(thing)
  }
}

/** The links of a process that has several. */
export class Links<A extends { readonly id: number }> extends SmallSet<A> {
  protected override many(): ManySet<A> {
    return new CellMap<A>()
  }
}
