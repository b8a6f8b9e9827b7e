/**
 * The children of a supervisor, in start order.
 *
 * KIDS1. An entry is in exactly one of: running (`cell`), restarting, stopped.
 * KIDS2. Ids are unique. A temporary child that is not running has no entry.
 * KIDS3. Finding, adding and removing a child take constant time.
 */
import { type ChildSpec, restartOf } from "../core/index.ts"
import { Cell } from "../kernel/index.ts"

export interface ChildEntry {
  readonly spec: ChildSpec
  readonly cell: Cell | undefined
  readonly restarting: boolean
}

class Entry implements ChildEntry {
  readonly spec: ChildSpec
  cell: Cell | undefined = undefined
  restarting = false
  constructor(spec: ChildSpec) {
    this.spec = spec
  }
}

export class Children {
  readonly #byId = new Map<string, Entry>()
  readonly #byCell = new Map<Cell, Entry>()

  get size(): number {
    return this.#byId.size
  }

  get all(): ReadonlyArray<ChildEntry> {
    return [...this.#byId.values()]
  }

  byId(id: string): ChildEntry | undefined {
    return this.#byId.get(id)
  }

  byCell(cell: unknown): ChildEntry | undefined {
    return cell instanceof Cell ? this.#byCell.get(cell) : undefined
  }

  has(entry: ChildEntry): boolean {
    return this.#byId.get(entry.spec.id) === entry
  }

  add(spec: ChildSpec): ChildEntry {
    const entry = new Entry(spec)
    this.#byId.set(spec.id, entry)
    return entry
  }

  remove(entry: ChildEntry): void {
    if (!this.has(entry)) return
    this.#byId.delete(entry.spec.id)
    if (entry.cell !== undefined) this.#byCell.delete(entry.cell)
  }

  /** The entry and the entries after it in start order. */
  from(entry: ChildEntry): ReadonlyArray<ChildEntry> {
    const { all } = this
    return all.slice(all.indexOf(entry))
  }

  /** Records the process that a child runs in, or none. */
  put(entry: ChildEntry, cell: Cell | undefined, restarting = false): void {
    const own = this.#byId.get(entry.spec.id)
    if (own === undefined || own !== entry) return
    if (own.cell !== undefined) this.#byCell.delete(own.cell)
    own.cell = cell
    own.restarting = restarting
    if (cell !== undefined) this.#byCell.set(cell, own)
  }

  /** Records that a child has ended and is not restarted. */
  stopped(entry: ChildEntry): void {
    this.put(entry, undefined)
    if (restartOf(entry.spec) === "temporary") this.remove(entry)
  }
}
