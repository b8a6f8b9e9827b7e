/**
 * A set of many processes, or a map from many processes to values.
 *
 * The entries are in pages, by the number of the process. A `Map` of objects hashes each one, and moves all when it grows: that costs
 * more than the start of a process.
 *
 * CELLS1. It holds each process once, with its newest value.
 * CELLS2. Adding, finding and removing take constant time. A page without entries is removed.
 * CELLS3. The order is that of the first entries of the pages, and within a page that of the numbers: the order of starts, for
 *         processes that are added as they start.
 */

/** A key: its number is unique among the keys. */
interface Numbered {
  readonly id: number
}

const places = 8
const blank: ReadonlyArray<undefined> = Array.from({ length: places }, () => undefined)

class Page<K, V> {
  /** The number of its first place. */
  readonly from: number
  readonly keys: Array<K | undefined> = blank.slice()
  /** Made for the first value: a set has none. */
  values: Array<V | undefined> | undefined = undefined
  size = 0

  constructor(from: number) {
    this.from = from
  }
}

export class CellMap<K extends Numbered, V = undefined> {
  readonly #pages = new Map<number, Page<K, V>>()
  /** The page of the last operation. */
  #page: Page<K, V> | undefined = undefined
  size = 0

  has(key: K): boolean {
    const place = key.id % places
    return this.#pageOf(key.id - place)?.keys[place] === key
  }

  get(key: K): V | undefined {
    const place = key.id % places
    const page = this.#pageOf(key.id - place)
    return page?.keys[place] === key ? page.values?.[place] : undefined
  }

  add(key: K): void {
    this.#put(key)
  }

  set(key: K, value: V): void {
    const page = this.#put(key)
    page.values ??= blank.slice()
    page.values[key.id % places] = value
  }

  /** Removes an entry; returns whether there was one. */
  delete(key: K): boolean {
    const place = key.id % places
    const page = this.#pageOf(key.id - place)
    if (page === undefined || page.keys[place] !== key) return false
    page.keys[place] = undefined
    if (page.values !== undefined) page.values[place] = undefined
    page.size--
    this.size--
    if (page.size > 0) return true
    this.#pages.delete(page.from)
    this.#page = undefined
    return true
  }

  /** The current entries. */
  get entries(): ReadonlyArray<readonly [key: K, value: V]> {
    const entries: Array<readonly [key: K, value: V]> = []
    for (const { keys, values } of this.#pages.values()) {
      for (const [place, key] of keys.entries()) if (key !== undefined) entries.push([key, values?.[place] as V])
    }
    return entries
  }

  *[Symbol.iterator](): Iterator<K> {
    for (const { keys } of this.#pages.values()) for (const key of keys) if (key !== undefined) yield key
  }

  #put(key: K): Page<K, V> {
    const place = key.id % places
    const from = key.id - place
    const page = this.#pageOf(from) ?? this.#add(from)
    if (page.keys[place] === undefined) {
      page.size++
      this.size++
    }
    page.keys[place] = key
    return page
  }

  #pageOf(from: number): Page<K, V> | undefined {
    if (this.#page?.from === from) return this.#page
    const page = this.#pages.get(from)
    if (page !== undefined) this.#page = page
    return page
  }

  #add(from: number): Page<K, V> {
    const page = new Page<K, V>(from)
    this.#pages.set(from, page)
    this.#page = page
    return page
  }
}
