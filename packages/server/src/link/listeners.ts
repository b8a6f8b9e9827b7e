/** The listeners for a change. */
export class Listeners {
  readonly #all = new Set<{ readonly changed: () => void }>()
  readonly #left: () => void

  /** `left` is called when the last listener unsubscribes. */
  constructor(left: () => void) {
    this.#left = left
  }

  /** The number of listeners. */
  get size(): number {
    return this.#all.size
  }

  /** Adds a listener and returns its unsubscribe function. Adding the same function again is another subscription. */
  add(changed: () => void): () => void {
    const one = { changed }
    this.#all.add(one)
    return () => {
      if (this.#all.delete(one) && this.#all.size === 0) this.#left()
    }
  }

  notify(): void {
    for (const one of Array.from(this.#all)) if (this.#all.has(one)) one.changed()
  }
}
