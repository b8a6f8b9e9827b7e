/**
 * A line of what waits, as a value: adding and taking give a new line and leave the old one as it was.
 *
 * LINE1. Adding and taking cost the same however many wait: each item is moved once.
 * LINE2. What was taken is not held on to.
 */

interface Link<A> {
  readonly item: A
  readonly next: Link<A> | undefined
}

/** First in, first out. */
export class PersistentQueue<A> {
  readonly size: number
  readonly #front: Link<A> | undefined
  /** What was added since, newest first; empty while the front is. */
  readonly #added: Link<A> | undefined

  private constructor(size: number, front: Link<A> | undefined, added: Link<A> | undefined) {
    this.size = size
    this.#front = front
    this.#added = added
  }

  /** A line of these, in this order. */
  static of<A>(items: ReadonlyArray<A>): PersistentQueue<A> {
    let front: Link<A> | undefined
    for (const item of items.toReversed()) front = { item, next: front }
    return new PersistentQueue(items.length, front, undefined)
  }

  /** The one whose turn is next. */
  get first(): A | undefined {
    return this.#front?.item
  }

  push(item: A): PersistentQueue<A> {
    return this.#front === undefined
      ? new PersistentQueue(1, { item, next: undefined }, undefined)
      : new PersistentQueue(this.size + 1, this.#front, { item, next: this.#added })
  }

  /** The line without its first. */
  rest(): PersistentQueue<A> {
    if (this.#front === undefined) return this
    const { next } = this.#front
    return next === undefined
      ? new PersistentQueue(this.size - 1, reversed(this.#added), undefined)
      : new PersistentQueue(this.size - 1, next, this.#added)
  }

  /** The line behind these. */
  behind(items: ReadonlyArray<A>): PersistentQueue<A> {
    return items.length === 0 ? this : PersistentQueue.of([...items, ...this.toArray()])
  }

  /** Without those that fail the test; the same line where none does. */
  filter(keeps: (item: A) => boolean): PersistentQueue<A> {
    const kept = this.toArray().filter(keeps)
    return kept.length === this.size ? this : PersistentQueue.of(kept)
  }

  toArray(): ReadonlyArray<A> {
    const items: Array<A> = []
    for (let link = this.#front; link !== undefined; link = link.next) items.push(link.item)
    for (let link = reversed(this.#added); link !== undefined; link = link.next) items.push(link.item)
    return items
  }
}

const reversed = <A>(links: Link<A> | undefined): Link<A> | undefined => {
  let turned: Link<A> | undefined
  for (let link = links; link !== undefined; link = link.next) turned = { item: link.item, next: turned }
  return turned
}
