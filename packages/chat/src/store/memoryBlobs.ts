/**
 * The blobs of one conversation in memory.
 *
 * Owns: copies of their bytes, and when each was stored. Does not own the entries and inputs that name them.
 */

/** How long a blob may wait for the entry or the input that names it, in milliseconds: an hour. */
const blobWaitMs = 3_600_000

export class MemoryBlobs {
  readonly #kept = new Map<string, { readonly bytes: Uint8Array; storedAt: number; isNamed: boolean }>()

  /** BLOB1 */
  put(id: string, bytes: Uint8Array, now: number): void {
    const blobs = this.#kept.get(id)
    if (blobs === undefined) this.#kept.set(id, { bytes: Uint8Array.from(bytes), storedAt: now, isNamed: false })
    else blobs.storedAt = now
  }

  get(id: string): Uint8Array | undefined {
    return this.#kept.get(id)?.bytes
  }

  get size(): number {
    let sum = 0
    for (const { bytes } of this.#kept.values()) sum += bytes.byteLength
    return sum
  }

  /** The blobs that these values name. BLOB3 */
  namedBy(values: unknown, now: number): MemoryBlobs {
    const found = new MemoryBlobs()
    if (this.#kept.size === 0) return found
    const text = textOf(values)
    for (const [id, { bytes }] of this.#kept) if (text.includes(id)) found.put(id, bytes, now)
    return found
  }

  /** Removes the blobs that nothing named in time. `entries` and `inputs` return what can name them. BLOB5 */
  collect(now: number, entries: () => unknown, inputs: () => unknown): void {
    const due = Array.from(this.#kept).filter(([, kept]) => !kept.isNamed && kept.storedAt < now - blobWaitMs)
    if (due.length === 0) return
    const [inEntries, inInputs] = [textOf(entries()), textOf(inputs())]
    for (const [id, kept] of due) {
      kept.isNamed = inEntries.includes(id)
      if (!kept.isNamed && !inInputs.includes(id)) this.#kept.delete(id)
    }
  }
}

/** The JSON of a record, which may have integers of any size. */
const textOf = (values: unknown): string =>
  JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
