/**
 * The entries of one registry.
 *
 * Owns both directions: key to process, and process to keys.
 *
 * REG1. A key leads to at most one process, and that one is alive; both directions agree.
 * REG2. A process with entries is linked to the registry; with its last entry the link goes, unless it was there before.
 */
import type { Cell } from "./cell.ts"
import { join } from "./death.ts"

interface Member {
  readonly keys: Set<unknown>
  readonly linkedBefore: boolean
  readonly forget: () => void
}

export class RegistryTable {
  readonly #self: Cell
  readonly #holders = new Map<unknown, Cell>()
  readonly #members = new Map<Cell, Member>()

  constructor(self: Cell) {
    this.#self = self
  }

  get size(): number {
    return this.#holders.size
  }

  holder(key: unknown): Cell | undefined {
    const cell = this.#holders.get(key)
    return cell === undefined || cell.dead || this.#self.dead ? undefined : cell
  }

  keysOf(cell: Cell): ReadonlyArray<unknown> {
    return [...(this.#members.get(cell)?.keys ?? [])]
  }

  entries(): ReadonlyArray<readonly [unknown, Cell]> {
    return [...this.#holders].filter(([, cell]) => !cell.dead)
  }

  /** Enters a process under a free key; answers who has the key. */
  claim(key: unknown, cell: Cell): Cell {
    const holder = this.holder(key)
    if (holder !== undefined || cell.dead || this.#self.dead) return holder ?? cell
    this.#member(cell).keys.add(key)
    this.#holders.set(key, cell)
    return cell
  }

  /** Takes a process out from under a key; answers whether it was there. */
  release(key: unknown, cell: Cell): boolean {
    const member = this.#members.get(cell)
    if (member === undefined || !member.keys.delete(key)) return false
    this.#holders.delete(key)
    if (member.keys.size > 0) return true
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
      keys: new Set(),
      linkedBefore: cell.links?.has(this.#self) === true,
      forget: () => void cell.watchers?.delete(watcher)
    }
    this.#members.set(cell, member)
    cell.watch(watcher)
    join(cell, this.#self)
    return member
  }

  #gone(cell: Cell): void {
    for (const key of this.#members.get(cell)?.keys ?? []) {
      if (this.#holders.get(key) === cell) this.#holders.delete(key)
    }
    this.#members.delete(cell)
  }
}
