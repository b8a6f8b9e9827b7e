/**
 * The entries of a registry by key. A key is given as its place, the result of `placeOf`.
 *
 * INDEX1. A key without entries uses no memory.
 * INDEX2. Adding and removing an entry take constant time; the entries of one key keep their order.
 */
import type { Cell } from "../kernel/index.ts"

/** One process under one key. */
export class Entry {
  readonly key: unknown
  readonly place: unknown
  readonly cell: Cell
  value: unknown
  constructor(key: unknown, place: unknown, cell: Cell, value: unknown) {
    this.key = key
    this.place = place
    this.cell = cell
    this.value = value
  }
}

/** Entries by key. */
export interface KeyIndex {
  first(place: unknown): Entry | undefined
  at(place: unknown): ReadonlyArray<Entry>
  all(): ReadonlyArray<Entry>
  add(entry: Entry): void
  remove(entry: Entry): void
}

/** One entry for a key: a new one replaces it. */
export class UniqueIndex implements KeyIndex {
  readonly #entries = new Map<unknown, Entry>()

  first(place: unknown): Entry | undefined {
    return this.#entries.get(place)
  }

  at(place: unknown): ReadonlyArray<Entry> {
    const entry = this.#entries.get(place)
    return entry === undefined ? [] : [entry]
  }

  all(): ReadonlyArray<Entry> {
    return [...this.#entries.values()]
  }

  add(entry: Entry): void {
    this.#entries.set(entry.place, entry)
  }

  remove(entry: Entry): void {
    if (this.#entries.get(entry.place) === entry) this.#entries.delete(entry.place)
  }
}

/** Any number of entries for a key. */
export class DuplicateIndex implements KeyIndex {
  readonly #entries = new Map<unknown, Set<Entry>>()

  first(place: unknown): Entry | undefined {
    return this.#entries.get(place)?.values().next().value
  }

  at(place: unknown): ReadonlyArray<Entry> {
    return [...(this.#entries.get(place) ?? [])]
  }

  all(): ReadonlyArray<Entry> {
    return [...this.#entries.values()].flatMap((entries) => [...entries])
  }

  add(entry: Entry): void {
    const entries = this.#entries.get(entry.place) ?? new Set()
    entries.add(entry)
    this.#entries.set(entry.place, entries)
  }

  remove(entry: Entry): void {
    const entries = this.#entries.get(entry.place)
    entries?.delete(entry)
    if (entries?.size === 0) this.#entries.delete(entry.place)
  }
}
