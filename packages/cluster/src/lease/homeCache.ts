/**
 * The homes of all shards, as last read from the table.
 *
 * Owns: the cached addresses. Does not own the leases.
 *
 * HOMES1. A forgotten shard, and one without a home, is read from the table at the next call. Calls at the same time share one
 *         read.
 * HOMES2. A read that began before `forget` does not bring the forgotten address back. It still brings the other homes.
 * HOMES3. `forget` forgets all shards of the shard's home: a home that gave no answer about one chat is asked about no other.
 * HOMES4. One read runs at a time, however many requests look for homes: a call for a shard that was forgotten during the read waits
 *         for it, and shares the next one. Otherwise the reads of a failover would hold up the renewals of the leases.
 */

/** A read of the table, and the shards and homes that were forgotten since it began. */
interface Reading {
  readonly homes: Promise<ReadonlyMap<number, string>>
  readonly forgotten: Set<number | string>
}

export class HomeCache {
  readonly #read: () => Promise<ReadonlyMap<number, string>>
  readonly #homes = new Map<number, string>()
  #reading: Reading | undefined

  constructor(read: () => Promise<ReadonlyMap<number, string>>) {
    this.#read = read
  }

  /** The address of the shard's home. HOMES1, HOMES4 */
  async homeOf(shard: number): Promise<string | undefined> {
    for (;;) {
      const home = this.#homes.get(shard)
      if (home !== undefined) return home
      const reading = this.#reading ?? this.#begin()
      if (!reading.forgotten.has(shard)) return (await reading.homes).get(shard)
      await reading.homes.catch(() => undefined)
    }
  }

  /** HOMES2, HOMES3 */
  forget(shard: number): void {
    const forgotten = this.#homes.get(shard)
    for (const [other, home] of this.#homes) if (home === forgotten) this.#homes.delete(other)
    this.#reading?.forgotten.add(shard)
    if (forgotten !== undefined) this.#reading?.forgotten.add(forgotten)
  }

  #begin(): Reading {
    const reading: Reading = { homes: this.#read(), forgotten: new Set() }
    this.#reading = reading
    void this.#store(reading)
    return reading
  }

  async #store(reading: Reading): Promise<void> {
    try {
      for (const [shard, home] of await reading.homes) {
        if (!reading.forgotten.has(shard) && !reading.forgotten.has(home)) this.#homes.set(shard, home)
      }
    } catch {
      // The callers of `homeOf` get the error.
    } finally {
      this.#reading = undefined
    }
  }
}
