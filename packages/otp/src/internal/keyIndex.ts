/**
 * The entries of a registry by their key.
 *
 * INDEX1. A key without entries takes no place.
 * INDEX2. Adding and removing an entry cost the same however many the key has; those of one key keep their order.
 */
import type { Cell } from "./cell.ts"

/** One process under one key. */
export class Entry {
  readonly key: unknown
  readonly cell: Cell
  value: unknown
  constructor(key: unknown, cell: Cell, value: unknown) {
    this.key = key
    this.cell = cell
    this.value = value
  }
}

/** Entries by key. */
export interface KeyIndex {
  first(key: unknown): Entry | undefined
  at(key: unknown): ReadonlyArray<Entry>
  all(): ReadonlyArray<Entry>
  add(entry: Entry): void
  remove(entry: Entry): void
}

/** One entry for a key: adding another takes its place. */
export class UniqueIndex implements KeyIndex {
  readonly #entries = new Map<unknown, Entry>()

  first(key: unknown): Entry | undefined {
    return this.#entries.get(key)
  }

  at(key: unknown): ReadonlyArray<Entry> {
    const entry = this.#entries.get(key)
    return entry === undefined ? [] : [entry]
  }

  all(): ReadonlyArray<Entry> {
    return [...this.#entries.values()]
  }

  add(entry: Entry): void {
    this.#entries.set(entry.key, entry)
  }

  remove(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
  }
}

/** Any number of entries for a key. */
export class DuplicateIndex implements KeyIndex {
  readonly #entries = new Map<unknown, Set<Entry>>()

  first(key: unknown): Entry | undefined {
    return this.#entries.get(key)?.values().next().value
  }

  at(key: unknown): ReadonlyArray<Entry> {
    return [...(this.#entries.get(key) ?? [])]
  }

  all(): ReadonlyArray<Entry> {
    return [...this.#entries.values()].flatMap((entries) => [...entries])
  }

  add(entry: Entry): void {
    const entries = this.#entries.get(entry.key) ?? new Set()
    entries.add(entry)
    this.#entries.set(entry.key, entries)
  }

  remove(entry: Entry): void {
    const entries = this.#entries.get(entry.key)
    entries?.delete(entry)
    if (entries?.size === 0) this.#entries.delete(entry.key)
  }
}
