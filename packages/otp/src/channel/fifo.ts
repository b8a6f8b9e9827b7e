/** A mutable queue that allocates nothing for an item. */

const leastDropped = 64

/**
 * A first-in, first-out queue.
 *
 * **Details**
 *
 * `push` and `shift` take constant time on average.
 */
export class Fifo<A> {
  /** The queued items begin at `#front`; the places before it are empty. */
  #items: Array<A | undefined> = []
  #front = 0

  /** The number of queued items. */
  get size(): number {
    return this.#items.length - this.#front
  }

  /** The newest item; `undefined` when the queue is empty. */
  get last(): A | undefined {
    return this.size === 0 ? undefined : this.#items[this.#items.length - 1]
  }

  /** Adds an item. */
  push(item: A): void {
    this.#items.push(item)
  }

  /** Replaces the newest item of a queue that is not empty. */
  replaceLast(item: A): void {
    if (this.size > 0) this.#items[this.#items.length - 1] = item
  }

  /** Removes and returns the oldest item; `undefined` when the queue is empty. */
  shift(): A | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#front]
    this.#items[this.#front++] = undefined
    if (this.#front >= leastDropped && this.#front >= this.size) this.#drop()
    return item
  }

  /** Removes all items. */
  clear(): void {
    this.#items = []
    this.#front = 0
  }

  /**
   * Removes the empty places. `shift` calls it when they are as many as the items, so each item is moved at most once.
   */
  #drop(): void {
    this.#items = this.#items.slice(this.#front)
    this.#front = 0
  }
}
