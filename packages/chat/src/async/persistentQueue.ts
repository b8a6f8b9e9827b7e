/**
 * An immutable queue: each operation returns a new queue and leaves the old queue unchanged.
 *
 * LINE1. `push` and `rest` take constant time on average: each item is moved once.
 * LINE2. The queue keeps no reference to an item that was removed.
 */

interface Link<A> {
  readonly item: A
  readonly next: Link<A> | undefined
}

/** An immutable first-in, first-out queue. */
export class PersistentQueue<A> {
  readonly size: number
  readonly #front: Link<A> | undefined
  /** The items added since `#front` was built, newest first; empty while `#front` is empty. */
  readonly #added: Link<A> | undefined

  private constructor(size: number, front: Link<A> | undefined, added: Link<A> | undefined) {
    this.size = size
    this.#front = front
    this.#added = added
  }

  /** A queue of these items, in this order. */
  static of<A>(items: ReadonlyArray<A>): PersistentQueue<A> {
    let front: Link<A> | undefined
    for (const item of items.toReversed()) front = { item, next: front }
    return new PersistentQueue(items.length, front, undefined)
  }

  /** The oldest item; `undefined` when the queue is empty. */
  get first(): A | undefined {
    return this.#front?.item
  }

  push(item: A): PersistentQueue<A> {
    return this.#front === undefined
      ? new PersistentQueue(1, { item, next: undefined }, undefined)
      : new PersistentQueue(this.size + 1, this.#front, { item, next: this.#added })
  }

  /** The queue without its oldest item. */
  rest(): PersistentQueue<A> {
    if (this.#front === undefined) return this
    const { next } = this.#front
    return next === undefined
      ? new PersistentQueue(this.size - 1, reversed(this.#added), undefined)
      : new PersistentQueue(this.size - 1, next, this.#added)
  }

  /** The queue with these items in front. */
  behind(items: ReadonlyArray<A>): PersistentQueue<A> {
    return items.length === 0 ? this : PersistentQueue.of([...items, ...this.toArray()])
  }

  /** The queue without the items that fail the test; the same queue when none fails. */
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
