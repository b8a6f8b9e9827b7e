/**
 * The process of a registry.
 *
 * Owns the tables of its partitions, the metadata and the locks. With one partition, the table belongs to the registry's
 * process; with more, each table belongs to a separate process, which the registry starts and restarts.
 *
 * RPART1. An entry is in the partition of its key if keys are unique, else in that of its process. So one look-up of a
 *        unique key, or one death with duplicate keys, concerns one partition.
 * RPART2. The end of a partition ends only the processes with entries there. Until the registry has restarted it, it
 *        takes no entries.
 * RPART3. Partitions end with their registry, at once: with `shutdown` if it ends in order, else with its reason.
 */
import { hashOf, isExit, isName, placeOf, type Target } from "../core/index.ts"
import { deliverTo } from "../process/index.ts"
import { type Cell, cellOf, deliver, die } from "../kernel/index.ts"
import type { Entry } from "./keyIndex.ts"
import { KeyLocks } from "./keyLocks.ts"
import { checkCount, checkWord, following, mayRestart, RestartWindow, type Verdict } from "../supervisor/index.ts"
import { RegistryTable } from "./registryTable.ts"
import type { Keys, Listener } from "./registryTable.ts"
import { type Callbacks, launchServer, type Server, ServerResult } from "../server/index.ts"

/** The start options of a registry, with defaults. */
export interface RegistryPlan {
  readonly keys: Keys
  readonly partitions: number
  readonly listeners: ReadonlyArray<Target>
  readonly meta: Iterable<readonly [unknown, unknown]>
}

const partitionCallbacks: Callbacks = {
  kind: "registry",
  init: (table, self) => {
    const make = table as (self: Cell) => RegistryTable
    return new ServerResult("ok", make(self), undefined, undefined, undefined)
  },
  handleInfo: (message, _state, self) => {
    if (!isExit(message)) self.kernel.undelivered("unexpected", self, message)
  },
  show: (table) => ({ entries: (table as RegistryTable).entries().length })
}

export class RegistryState {
  readonly self: Cell
  readonly keys: Keys
  /** By the place of the key. */
  readonly meta: Map<unknown, unknown>
  readonly locks = new KeyLocks()
  readonly window = new RestartWindow(3, 5)
  readonly #tables: Array<RegistryTable>
  readonly #notify: Listener | undefined

  constructor(self: Cell, { keys, partitions, listeners, meta }: RegistryPlan) {
    this.self = self
    this.keys = keys
    this.meta = new Map(Array.from(meta, ([key, value]) => [placeOf(key), value]))
    this.#notify = listeners.length === 0 ? undefined : this.#notified(listeners)
    if (partitions === 1) {
      this.#tables = [new RegistryTable(self, keys, this.#notify)]
      return
    }
    this.#tables = Array.from({ length: partitions }, (_, index) => this.#start(index))
    self.watch({
      down: (_cell, reason) => {
        for (const table of this.#tables) die(table.self, reason, "signal")
      }
    })
  }

  get tables(): ReadonlyArray<RegistryTable> {
    return this.#tables
  }

  /** The table that has the entries of a unique key, by the key's place. */
  #tableOf(place: unknown): RegistryTable {
    return this.#at(this.#tables.length === 1 ? 0 : hashOf(place))
  }

  /** The tables that may have entries of a key, by the key's place. */
  tablesAt(place: unknown): ReadonlyArray<RegistryTable> {
    return this.keys === "unique" ? [this.#tableOf(place)] : this.#tables
  }

  /** The first living process under a key. */
  holder(key: unknown): Cell | undefined {
    const place = placeOf(key)
    const only = this.#tables[0]
    if (only !== undefined && this.#tables.length === 1) return only.holder(place)
    return this.keys === "unique" ? this.#tableOf(place).holder(place) : this.at(key)[0]?.cell
  }

  at(key: unknown): ReadonlyArray<Entry> {
    const place = placeOf(key)
    return this.tablesAt(place).flatMap((table) => table.at(place))
  }

  entriesOf(cell: Cell): ReadonlyArray<Entry> {
    return this.#tables.flatMap((table) => table.entriesOf(cell))
  }

  entries(): ReadonlyArray<Entry> {
    return this.#tables.flatMap((table) => table.entries())
  }

  claim(key: unknown, cell: Cell, value: unknown): Cell | undefined {
    const place = placeOf(key)
    const table = this.keys === "unique" ? this.#tableOf(place) : this.#at(cell.id)
    return table.claim(key, place, cell, value)
  }

  /** REG4. */
  dismiss(): void {
    for (const table of this.#tables) {
      if (table.self === this.self) table.dismiss()
      else die(table.self, "shutdown", "signal")
    }
  }

  /** Restarts the partition of a process that ended. */
  lost(cell: unknown): Verdict {
    if (this.#tables.length === 1) return "goOn"
    const index = this.#tables.findIndex((table) => table.self === cell)
    if (index === -1) return "goOn"
    if (!mayRestart(this.self, this.window, `partition ${index}`)) return "giveUp"
    this.#tables[index] = this.#start(index)
    return "goOn"
  }

  #at(place: number): RegistryTable {
    return this.#tables[place % this.#tables.length] as RegistryTable
  }

  #start(index: number): RegistryTable {
    const make = (self: Cell): RegistryTable => new RegistryTable(self, this.keys, this.#notify)
    const label = `${this.self.label}/${index}`
    const cell = launchServer(this.self.kernel, this.self, partitionCallbacks, make, { label, trapExit: true })
    return (cell.behaviour as Server).state as RegistryTable
  }

  #notified(listeners: ReadonlyArray<Target>): Listener {
    return (_tag, { key, cell, value }) => {
      const message = { _tag, registry: this.self, key, pid: cell, value }
      for (const listener of listeners) {
        if (isName(listener)) deliverTo(listener, message)
        else if (!cellOf(listener).dead) deliver(cellOf(listener), message)
      }
    }
  }
}

export const registryCallbacks: Callbacks = {
  kind: "registry",
  init: (plan, self) => {
    const { keys, partitions } = plan as RegistryPlan
    checkWord("keys", keys, ["unique", "duplicate"])
    checkCount("partitions", partitions)
    return new ServerResult("ok", new RegistryState(self, plan as RegistryPlan), undefined, undefined, undefined)
  },
  handleInfo: (message, state, self) => {
    if (!isExit(message)) return self.kernel.undelivered("unexpected", self, message)
    const verdict = (state as RegistryState).lost(message.from)
    return verdict === "goOn" ? undefined : following(verdict, state)
  },
  terminate: (_reason, state) => (state as RegistryState).dismiss(),
  show: (state) => {
    const { keys, tables } = state as RegistryState
    return { keys, partitions: tables.length, entries: (state as RegistryState).entries().length }
  }
}
