/** A weak cache: the same value for the same key while the value is referenced elsewhere. Other entries are removed. */
export class WeakCache<A extends object> {
  readonly #kept = new Map<string, WeakRef<A>>()
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#kept.get(key)?.deref() === undefined) this.#kept.delete(key)
  })

  /** The number of cached keys. */
  get size(): number {
    return this.#kept.size
  }

  /** The value of this key, created if there is none. */
  get(key: string, make: (key: string) => A): A {
    const known = this.#kept.get(key)?.deref()
    if (known !== undefined) return known
    const made = make(key)
    this.#kept.set(key, new WeakRef(made))
    this.#gone.register(made, key)
    return made
  }
}
