/**
 * The entries of one registry.
 *
 * Owns both directions: key to entries, and process to entries.
 *
 * REG1. An entry is of a living process, and both directions agree; a unique key has at most one.
 * REG2. A process with entries is linked to the registry; with its last entry the link goes, unless it was there before.
 */
import type { Cell } from "./cell.ts"
import { join } from "./death.ts"
import { DuplicateIndex, Entry, UniqueIndex } from "./keyIndex.ts"
import type { KeyIndex } from "./keyIndex.ts"

/** Whether a key leads to one process or to any number. */
export type Keys = "unique" | "duplicate"

interface Member {
  readonly entries: Set<Entry>
  readonly linkedBefore: boolean
  readonly forget: () => void
}

export class RegistryTable {
  readonly keys: Keys
  readonly #self: Cell
  readonly #index: KeyIndex
  readonly #members = new Map<Cell, Member>()

  constructor(self: Cell, keys: Keys) {
    this.#self = self
    this.keys = keys
    this.#index = keys === "unique" ? new UniqueIndex() : new DuplicateIndex()
  }

  /** The entries of living processes under a key. */
  at(key: unknown): ReadonlyArray<Entry> {
    return this.#self.dead ? [] : this.#index.at(key).filter((entry) => !entry.cell.dead)
  }

  /** The first living process under a key; the first entry's, but while that process is dying. */
  holder(key: unknown): Cell | undefined {
    const cell = this.#self.dead ? undefined : this.#index.first(key)?.cell
    return cell?.dead === true ? this.at(key)[0]?.cell : cell
  }

  entriesOf(cell: Cell): ReadonlyArray<Entry> {
    return [...(this.#members.get(cell)?.entries ?? [])]
  }

  entries(): ReadonlyArray<Entry> {
    return this.#index.all().filter((entry) => !entry.cell.dead)
  }

  /** Enters a process under a key; answers who has the key, if somebody has and it is unique. */
  claim(key: unknown, cell: Cell, value: unknown): Cell {
    const holder = this.keys === "unique" ? this.holder(key) : undefined
    if (holder !== undefined || cell.dead || this.#self.dead) return holder ?? cell
    const entry = new Entry(key, cell, value)
    this.#member(cell).entries.add(entry)
    this.#index.add(entry)
    return cell
  }

  /** Takes a process out from under a key; answers whether it was there. */
  release(key: unknown, cell: Cell): boolean {
    const member = this.#members.get(cell)
    const released = this.entriesOf(cell).filter((entry) => entry.key === key)
    if (member === undefined || released.length === 0) return false
    for (const entry of released) {
      member.entries.delete(entry)
      this.#index.remove(entry)
    }
    if (member.entries.size > 0) return true
    member.forget()
    this.#members.delete(cell)
    if (member.linkedBefore) return true
    cell.links?.delete(this.#self)
    this.#self.links?.delete(cell)
    return true
  }

  #member(cell: Cell): Member {
    const existing = this.#members.get(cell)
    if (existing !== undefined) return existing
    const watcher = { down: () => this.#gone(cell) }
    const member: Member = {
      entries: new Set(),
      linkedBefore: cell.links?.has(this.#self) === true,
      forget: () => void cell.watchers?.delete(watcher)
    }
    this.#members.set(cell, member)
    cell.watch(watcher)
    join(cell, this.#self)
    return member
  }

  #gone(cell: Cell): void {
    for (const entry of this.entriesOf(cell)) this.#index.remove(entry)
    this.#members.delete(cell)
  }
}
