/**
 * The homes of all shards, as last read from the table.
 *
 * Owns: the cached addresses. Does not own the leases.
 *
 * HOMES1. A forgotten shard, and one without a home, is read from the table at the next call. Calls at the same time share one
 *         read.
 * HOMES2. A read that began before `forget` does not bring the forgotten address back.
 * HOMES3. `forget` forgets all shards of the shard's home: a home that gave no answer about one chat is asked about no other.
 */

/** The homes. */
export class HomeCache {
  readonly #read: () => Promise<ReadonlyMap<number, string>>
  readonly #homes = new Map<number, string>()
  #reading: Promise<ReadonlyMap<number, string>> | undefined

  constructor(read: () => Promise<ReadonlyMap<number, string>>) {
    this.#read = read
  }

  /** The address of the shard's home. HOMES1 */
  async homeOf(shard: number): Promise<string | undefined> {
    const known = this.#homes.get(shard)
    if (known !== undefined) return known
    return (await (this.#reading ?? this.#begin())).get(shard)
  }

  /** HOMES2, HOMES3 */
  forget(shard: number): void {
    const forgotten = this.#homes.get(shard)
    for (const [other, home] of this.#homes) if (home === forgotten) this.#homes.delete(other)
    this.#reading = undefined
  }

  #begin(): Promise<ReadonlyMap<number, string>> {
    const reading = this.#read()
    this.#reading = reading
    void this.#store(reading)
    return reading
  }

  async #store(reading: Promise<ReadonlyMap<number, string>>): Promise<void> {
    try {
      const homes = await reading
      if (this.#reading === reading) for (const [shard, home] of homes) this.#homes.set(shard, home)
    } catch {
      // The callers of `homeOf` get the error.
    } finally {
      if (this.#reading === reading) this.#reading = undefined
    }
  }
}
