/** Who is to be told that something changed. */
export class Listeners {
  readonly #all = new Set<{ readonly changed: () => void }>()

  /** How many there are. */
  get size(): number {
    return this.#all.size
  }

  /** Each subscription is one of its own, also of the same function; what is given forgets it. */
  add(changed: () => void, forgotten?: () => void): () => void {
    const one = { changed }
    this.#all.add(one)
    return () => {
      if (this.#all.delete(one)) forgotten?.()
    }
  }

  notify(): void {
    for (const one of Array.from(this.#all)) if (this.#all.has(one)) one.changed()
  }
}
