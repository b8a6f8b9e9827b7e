/**
 * The children of a supervisor, in start order.
 *
 * CHILD1. An entry is in exactly one of: running (`cell`), restarting, stopped.
 * CHILD2. Ids are unique. A temporary child that is not running has no entry.
 */
import { restartOf } from "../ChildSpec.ts"
import type { ChildSpec } from "../ChildSpec.ts"
import type { Cell } from "./cell.ts"

export interface ChildEntry {
  readonly spec: ChildSpec
  cell: Cell | undefined
  restarting: boolean
}

export class Children {
  #entries: Array<ChildEntry> = []

  get all(): ReadonlyArray<ChildEntry> {
    return this.#entries
  }

  byId(id: string): ChildEntry | undefined {
    return this.#entries.find((entry) => entry.spec.id === id)
  }

  byCell(cell: unknown): ChildEntry | undefined {
    return this.#entries.find((entry) => entry.cell === cell)
  }

  add(spec: ChildSpec): ChildEntry {
    const entry: ChildEntry = { spec, cell: undefined, restarting: false }
    this.#entries.push(entry)
    return entry
  }

  remove(entry: ChildEntry): void {
    this.#entries = this.#entries.filter((other) => other !== entry)
  }

  /** The entry and those started after it. */
  from(entry: ChildEntry): ReadonlyArray<ChildEntry> {
    return this.#entries.slice(this.#entries.indexOf(entry))
  }

  /** Takes note that a child has ended and is not started again. */
  stopped(entry: ChildEntry): void {
    entry.cell = undefined
    entry.restarting = false
    if (restartOf(entry.spec) === "temporary") this.remove(entry)
  }
}
