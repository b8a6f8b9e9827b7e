/**
 * A map that mostly holds few entries.
 *
 * A chart has one or two children and timers at a time. A `Map` of them uses more memory than the chart, and each deletion
 * may allocate a new table.
 *
 * SMAP1. The entries are in the order of adding. A key that is set again keeps its place.
 * SMAP2. Up to eight entries are found by comparing keys. From the ninth on the entries are in a `Map`.
 */
const mostListed = 8

const nothing: ReadonlyArray<never> = []

/** A map from names. */
export class SmallMap<V> {
  #keys: Array<string> | undefined = undefined
  #values: Array<V> | undefined = undefined
  #map: Map<string, V> | undefined = undefined

  get size(): number {
    return this.#map?.size ?? this.#keys?.length ?? 0
  }

  get(key: string): V | undefined {
    if (this.#map !== undefined) return this.#map.get(key)
    const at = this.#at(key)
    return at < 0 ? undefined : this.#values?.[at]
  }

  has(key: string): boolean {
    return this.#map === undefined ? this.#at(key) >= 0 : this.#map.has(key)
  }

  set(key: string, value: V): void {
    if (this.#map !== undefined) {
      this.#map.set(key, value)
      return
    }
    if (this.#keys === undefined || this.#values === undefined) {
      // A literal of one entry has room for one; the first `push` to an empty list makes room for seventeen.
      this.#keys = [key]
      this.#values = [value]
      return
    }
    const keys = this.#keys
    const values = this.#values
    const at = this.#at(key)
    if (at >= 0) values[at] = value
    else if (keys.length < mostListed) {
      keys.push(key)
      values.push(value)
    } else this.#spread(keys, values).set(key, value)
  }

  delete(key: string): boolean {
    if (this.#map !== undefined) return this.#map.delete(key)
    const at = this.#at(key)
    if (at < 0) return false
    if (this.#keys?.length === 1) {
      this.#keys = undefined
      this.#values = undefined
      return true
    }
    this.#keys?.splice(at, 1)
    this.#values?.splice(at, 1)
    return true
  }

  /** The keys at present: a copy. */
  get keys(): ReadonlyArray<string> {
    return Array.from(this.#map?.keys() ?? this.#keys ?? nothing)
  }

  /** The values at present: a copy. */
  get values(): ReadonlyArray<V> {
    return Array.from(this.#map?.values() ?? this.#values ?? nothing)
  }

  /** The keys and values at present: a copy. */
  get entries(): ReadonlyArray<readonly [string, V]> {
    const { values } = this
    return this.keys.map((key, at) => [key, values[at] as V])
  }

  #at(key: string): number {
    return this.#keys?.indexOf(key) ?? -1
  }

  #spread(keys: ReadonlyArray<string>, values: ReadonlyArray<V>): Map<string, V> {
    const map = new Map(keys.map((key, at) => [key, values[at] as V]))
    this.#map = map
    this.#keys = undefined
    this.#values = undefined
    return map
  }
}
