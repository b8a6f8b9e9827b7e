/**
 * The work of a supervisor on its children.
 *
 * Owns the children and the restart window of one supervisor process. It runs inside that process's callbacks, one at a
 * time: a running restart is complete before the next death is handled.
 *
 * SUP1. Children start in list order and end in reverse order; each step waits for the one before.
 * SUP2. Each message makes one attempt to restart. After a failed attempt the child is `restarting`, and a message to the
 *       supervisor itself retries, so that it keeps handling requests. Every attempt counts.
 * SUP3. After the limit nothing is restarted: the supervisor ends with `shutdown`, its children before it.
 * SUP4. Only a child that ends by itself can trigger the auto shutdown, never one that is terminated by a request.
 */
import { type ChildSpec, type ExitReason, isAbnormal, RestartLimit, restartOf, shutdownOf } from "../core/index.ts"
import { endChild } from "../process/index.ts"
import { type Cell, deliver } from "../kernel/index.ts"
import { Children } from "./children.ts"
import type { ChildEntry } from "./children.ts"
import { startChild } from "./childStart.ts"
import type { ChildStart } from "./childStart.ts"
import type { RestartWindow } from "./restartWindow.ts"

/** Which children are restarted when one has to be, see `Supervisor.Options`. */
export type Strategy = "oneForOne" | "oneForAll" | "restForOne"

/** Whether the end of significant children ends the supervisor, see `Supervisor.Options`. */
export type AutoShutdown = "never" | "anySignificant" | "allSignificant"

/** Whether the supervisor continues. */
export type Verdict = "goOn" | "giveUp"

/** Records a restart. If it exceeds the limit, reports that, because the supervisor then ends in order. */
export const mayRestart = (self: Cell, window: RestartWindow, id: string): boolean => {
  const { kernel } = self
  if (window.allows(kernel.clock.now())) {
    kernel.restarts++
    kernel.observer?.restarted(self, id, window.total)
    return true
  }
  kernel.report(self, new RestartLimit({ id, limit: window.limit }), true)
  kernel.observer?.escalated(self, id, window.total, window.limit)
  return false
}

/** The key of the number in the spec of a partition. */
export const partition: unique symbol = Symbol("partition")

/** The supervisor's message to itself: retry the restart of this child. */
export class Retry {
  readonly entry: ChildEntry
  constructor(entry: ChildEntry) {
    this.entry = entry
  }
}

export class Supervising {
  readonly children = new Children()
  readonly self: Cell
  readonly strategy: Strategy
  readonly autoShutdown: AutoShutdown
  readonly window: RestartWindow
  /** The number of partitions; `undefined` when its children are not the partitions of one supervisor. */
  partitions: number | undefined = undefined

  constructor(self: Cell, strategy: Strategy, autoShutdown: AutoShutdown, window: RestartWindow) {
    this.self = self
    this.strategy = strategy
    this.autoShutdown = autoShutdown
    this.window = window
  }

  /** Starts the children of a new supervisor; after a failure, ends those that are up. */
  async startAll(
    specs: ReadonlyArray<ChildSpec>
  ): Promise<{ readonly id: string; readonly reason: ExitReason } | undefined> {
    if (specs.some((spec) => partition in spec)) this.partitions = specs.length
    for (const spec of specs) {
      const started = await this.start(this.children.add(spec))
      if (started._tag !== "Failed") continue
      await this.end(this.children.all)
      return { id: spec.id, reason: started.reason }
    }
    return undefined
  }

  start(entry: ChildEntry): ChildStart | Promise<ChildStart> {
    return startChild(this.self, entry.spec, (started) => {
      this.children.put(entry, started._tag === "Up" ? started.cell : undefined)
      if (started._tag === "Ignored" && restartOf(entry.spec) === "temporary") this.children.remove(entry)
      return started
    })
  }

  /** Ends children, youngest first. */
  async end(entries: ReadonlyArray<ChildEntry>): Promise<void> {
    for (const entry of entries.toReversed()) {
      const { cell } = entry
      if (cell !== undefined) await endChild(this.self, cell, shutdownOf(entry.spec))
      if (this.self.dead) return
      this.children.stopped(entry)
    }
  }

  /** Handles the end of a process that may be a child. */
  childEnded(cell: unknown, reason: ExitReason): Verdict | Promise<Verdict> {
    const entry = this.children.byCell(cell)
    if (entry === undefined) return "goOn"
    this.children.put(entry, undefined)
    const restart = restartOf(entry.spec)
    if (restart === "permanent" || (restart === "transient" && isAbnormal(reason))) return this.restart(entry)
    this.children.stopped(entry)
    return entry.spec.significant === true && this.#endsWith() ? "giveUp" : "goOn"
  }

  #endsWith(): boolean {
    if (this.autoShutdown === "anySignificant") return true
    if (this.autoShutdown === "never") return false
    return this.children.all.every(
      (entry) => entry.spec.significant !== true || (entry.cell === undefined && !entry.restarting)
    )
  }

  /** Retries a failed restart, unless the child was started, stopped or removed meanwhile. */
  retry(entry: ChildEntry): Verdict | Promise<Verdict> {
    return entry.restarting && this.children.has(entry) ? this.restart(entry) : "goOn"
  }

  async restart(entry: ChildEntry): Promise<Verdict> {
    if (!mayRestart(this.self, this.window, entry.spec.id)) return "giveUp"
    const group = this.#group(entry)
    await this.end(group.filter((other) => other !== entry))
    for (const other of group) {
      if (!this.children.has(other) || this.self.dead) continue
      const started = await this.start(other)
      if (started._tag !== "Failed") continue
      this.children.put(other, undefined, true)
      deliver(this.self, new Retry(other))
      break
    }
    return "goOn"
  }

  #group(entry: ChildEntry): ReadonlyArray<ChildEntry> {
    if (this.strategy === "oneForOne") return [entry]
    return this.strategy === "oneForAll" ? this.children.all : this.children.from(entry)
  }
}
