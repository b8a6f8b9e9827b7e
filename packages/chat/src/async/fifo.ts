/** A queue that makes nothing for what passes through it. */

const leastDropped = 64

/** First in, first out; adding and taking cost the same however many wait. */
export class Fifo<A> {
  /** What waits begins at `#front`; the places before it are empty. */
  #items: Array<A | undefined> = []
  #front = 0

  get size(): number {
    return this.#items.length - this.#front
  }

  /** The newest; `undefined` when nothing waits. */
  get last(): A | undefined {
    return this.size === 0 ? undefined : this.#items[this.#items.length - 1]
  }

  push(item: A): void {
    this.#items.push(item)
  }

  /** Takes the oldest; `undefined` when nothing waits. */
  shift(): A | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#front]
    this.#items[this.#front++] = undefined
    if (this.#front >= leastDropped && this.#front >= this.size) this.#drop()
    return item
  }

  clear(): void {
    this.#items = []
    this.#front = 0
  }

  /** The empty places go when they are as many as what waits, so that each item is moved once or less. */
  #drop(): void {
    this.#items = this.#items.slice(this.#front)
    this.#front = 0
  }
}
