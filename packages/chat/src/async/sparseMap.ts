const none: ReadonlyMap<never, never> = new Map<never, never>()

/**
 * A map that holds memory only while it has entries: an empty `Map` uses more memory than the entries of most chats.
 *
 * SPARSE1. It has the entries of a `Map`, in the order of adding; when the last one is deleted, its memory is released.
 */
export class SparseMap<K, V> {
  /** The present entries. */
  all: ReadonlyMap<K, V> = none

  set(key: K, value: V): void {
    if (this.all === none) this.all = new Map([[key, value]])
    else (this.all as Map<K, V>).set(key, value)
  }

  delete(key: K): void {
    if (this.all.has(key) && this.all.size === 1) this.all = none
    else if (this.all !== none) (this.all as Map<K, V>).delete(key)
  }

  clear(): void {
    this.all = none
  }
}
