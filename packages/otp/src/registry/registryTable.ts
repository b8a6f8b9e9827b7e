/**
 * The entries of a registry, or of one of its partitions.
 *
 * Owns both directions: from key to entries, and from process to entries.
 *
 * REG1. An entry belongs to a living process, and both directions agree; a unique key has at most one entry.
 * REG2. A process with entries is linked to the process of the table. The link is removed with its last entry, unless it
 *       existed before.
 * REG3. Listeners are notified of every entry once when it is added, and once when it is removed, for any reason.
 * REG4. When a registry ends in order, for any reason, each member gets the exit signal `shutdown`; when it is killed,
 *       `killed`.
 */
import { CallExit } from "../core/index.ts"
import { type Cell, join, sameSystem, signal, SmallSet, type Watcher } from "../kernel/index.ts"
import { DuplicateIndex, Entry, UniqueIndex } from "./keyIndex.ts"
import type { KeyIndex } from "./keyIndex.ts"

/** Whether a key has one process or any number. */
/**
 * How many processes may be registered under one key.
 *
 * - `"unique"`: one process
 * - `"duplicate"`: any number of processes, and the same process any number of times
 */
export type Keys = "unique" | "duplicate"

/** Called for an entry that was added or removed. */
export type Listener = (change: "Register" | "Unregister", entry: Entry) => void

/** A process with entries, and the watcher of its end. */
class Member extends SmallSet<Entry> implements Watcher {
  readonly linkedBefore: boolean
  readonly down: (cell: Cell) => void

  constructor(linkedBefore: boolean, down: (cell: Cell) => void) {
    super()
    this.linkedBefore = linkedBefore
    this.down = down
  }
}

export class RegistryTable {
  readonly keys: Keys
  readonly #self: Cell
  readonly #notify: Listener | undefined
  readonly #index: KeyIndex
  readonly #members = new Map<Cell, Member>()

  constructor(self: Cell, keys: Keys, notify: Listener | undefined) {
    this.#self = self
    this.keys = keys
    this.#notify = notify
    this.#index = keys === "unique" ? new UniqueIndex() : new DuplicateIndex()
  }

  get self(): Cell {
    return this.#self
  }

  /** The entries of living processes under the key of a place. */
  at(place: unknown): ReadonlyArray<Entry> {
    return this.#self.dead ? [] : this.#index.at(place).filter((entry) => !entry.cell.dead)
  }

  /** The first living process under the key of a place; the first entry may be of a process that is dying. */
  holder(place: unknown): Cell | undefined {
    const cell = this.#self.dead ? undefined : this.#index.first(place)?.cell
    return cell?.dead === true ? this.at(place)[0]?.cell : cell
  }

  entriesOf(cell: Cell): ReadonlyArray<Entry> {
    return this.#members.get(cell)?.all ?? []
  }

  entries(): ReadonlyArray<Entry> {
    return this.#index.all().filter((entry) => !entry.cell.dead)
  }

  /** Registers a process under a key. If refused, returns the key's holder, or the process itself if it is dead. */
  claim(key: unknown, place: unknown, cell: Cell, value: unknown): Cell | undefined {
    if (this.#self.dead) throw new CallExit({ reason: "noproc", in: "Registry.register" })
    const holder = this.keys === "unique" ? this.holder(place) : undefined
    if (holder !== undefined || cell.dead) return holder ?? cell
    sameSystem(this.#self, cell)
    const entry = new Entry(key, place, cell, value)
    this.#member(cell).add(entry)
    this.#index.add(entry)
    this.#notify?.("Register", entry)
    return undefined
  }

  /** Removes entries of a process; returns their number. */
  release(cell: Cell, matches: (entry: Entry) => boolean): number {
    const member = this.#members.get(cell)
    const released = this.entriesOf(cell).filter(matches)
    if (member === undefined || released.length === 0) return 0
    for (const entry of released) {
      member.delete(entry)
      this.#index.remove(entry)
    }
    if (member.size === 0) this.#leave(cell, member)
    for (const entry of released) this.#notify?.("Unregister", entry)
    return released.length
  }

  /** REG4. Sends `shutdown` to the members, instead of the signal over their links. */
  dismiss(): void {
    for (const [cell, { linkedBefore }] of this.#members) {
      if (linkedBefore) continue
      this.#unlink(cell)
      signal(this.#self, cell, "shutdown", "link")
    }
  }

  #member(cell: Cell): Member {
    const existing = this.#members.get(cell)
    if (existing !== undefined) return existing
    const linkedBefore = cell.isLinked(this.#self)
    const member = new Member(linkedBefore, this.#gone)
    this.#members.set(cell, member)
    cell.watch(member)
    join(cell, this.#self)
    return member
  }

  #leave(cell: Cell, member: Member): void {
    cell.watchers?.delete(member)
    this.#members.delete(cell)
    if (!member.linkedBefore) this.#unlink(cell)
  }

  #unlink(cell: Cell): void {
    cell.removeLink(this.#self)
    this.#self.removeLink(cell)
  }

  readonly #gone = (cell: Cell): void => {
    const entries = this.entriesOf(cell)
    for (const entry of entries) this.#index.remove(entry)
    this.#members.delete(cell)
    for (const entry of entries) this.#notify?.("Unregister", entry)
  }
}
