const none: ReadonlyMap<never, never> = new Map<never, never>()

/**
 * A map that holds memory only while it has entries: an empty `Map` uses more memory than the entries of most chats.
 *
 * SPARSE1. It has the entries of a `Map`, in the order of adding; when the last one is deleted, its memory is released.
 */
export class SparseMap<K, V> {
  #entries: Map<K, V> | undefined

  get size(): number {
    return this.#entries?.size ?? 0
  }

  /** The present entries. */
  get all(): ReadonlyMap<K, V> {
    return this.#entries ?? none
  }

  get(key: K): V | undefined {
    return this.#entries?.get(key)
  }

  has(key: K): boolean {
    return this.#entries?.has(key) === true
  }

  set(key: K, value: V): void {
    this.#entries ??= new Map()
    this.#entries.set(key, value)
  }

  delete(key: K): boolean {
    const wasThere = this.#entries?.delete(key) === true
    if (this.#entries?.size === 0) this.#entries = undefined
    return wasThere
  }

  clear(): void {
    this.#entries = undefined
  }
}
