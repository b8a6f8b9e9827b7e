/**
 * The applications of one system.
 *
 * Owns the list of running applications, in start order, and starts and stops them one at a time. Each application is a
 * master process, which owns its tree.
 *
 * APPT1. An application is in the table from the request to start it until its master is dead.
 * APPT2. It starts only when all its dependencies run. `startAll` starts them first; if one fails, it stops those that it
 *        started itself.
 * APPT3. When a permanent application ends by itself, or a transient one with a reason other than `normal`, the system is
 *        stopped; if a program runs, the program does it. An end by `stop`, or with the system, does not count.
 * APPT4. Applications that depend on each other in a circle do not start; the error names the circle.
 */
import {
  ApplicationAlreadyStarted,
  ApplicationCycle,
  ApplicationNotStarted,
  type ExitReason,
  isNormal,
  StopMessage
} from "../core/index.ts"
import { stop } from "../system/index.ts"
import { type Cell, deliver, type Kernel } from "../kernel/index.ts"
import { masterCallbacks } from "./applicationMaster.ts"
import type { MasterPlan } from "./applicationMaster.ts"
import { startServer, stopServer } from "../server/index.ts"
import type { Definition, End, Kind } from "./definition.ts"

interface Entry {
  readonly name: string
  readonly started: Promise<Cell>
  up: boolean
  treeEnded: boolean
}

export class ApplicationTable {
  readonly #kernel: Kernel
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Set<(name: string, end: End) => void>()

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  get running(): ReadonlyArray<string> {
    return [...this.#entries.values()].filter((entry) => entry.up).map((entry) => entry.name)
  }

  async start(application: Definition, kind: Kind): Promise<void> {
    const { name } = application
    if (this.#entries.has(name)) throw new ApplicationAlreadyStarted({ name })
    const missing = application.dependsOn?.find((other) => this.#entries.get(other.name)?.up !== true)
    if (missing !== undefined) throw new ApplicationNotStarted({ name: missing.name })
    const options = { label: name, trapExit: true }
    const treeEnded = (): void => {
      entry.treeEnded = true
    }
    const plan: MasterPlan = { application, treeEnded }
    const started = startServer(this.#kernel, undefined, masterCallbacks, plan, options)
    const entry: Entry = { name, started, up: false, treeEnded: false }
    this.#entries.set(name, entry)
    try {
      const master = await started
      entry.up = true
      this.#watch(entry, master, kind)
    } catch (error) {
      this.#entries.delete(name)
      throw error
    }
  }

  #watch(entry: Entry, master: Cell, kind: Kind): void {
    const down = (_cell: Cell, reason: ExitReason): void => {
      if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name)
      const byItself = entry.treeEnded || reason !== "shutdown"
      this.#notify(entry.name, byItself ? this.#endOf(entry.name, kind, reason) : { _tag: "Stopped" })
    }
    if (master.dead) down(master, master.reason)
    else master.watch({ down })
  }

  #endOf(name: string, kind: Kind, reason: ExitReason): End | undefined {
    if (kind === "temporary" || (kind === "transient" && isNormal(reason))) return undefined
    return { _tag: "ApplicationEnded", name, reason }
  }

  #notify(name: string, end: End | undefined): void {
    if (end === undefined) return
    for (const notify of this.#waiting) notify(name, end)
    if (end._tag === "ApplicationEnded" && this.#waiting.size === 0) void stop(this.#kernel)
  }

  /** Calls `run` when an application's end stops the system, or `own` is stopped; returns a function that removes it. */
  whenEnded(own: string, run: (end: End) => void): () => void {
    const notify = (name: string, end: End): void => {
      if (end._tag !== "Stopped" || name === own) run(end)
    }
    this.#waiting.add(notify)
    return () => void this.#waiting.delete(notify)
  }

  async startAll(application: Definition, kind: Kind): Promise<ReadonlyArray<string>> {
    const started: Array<string> = []
    try {
      await this.#ensure(application, kind, started, [])
    } catch (error) {
      for (const name of started.toReversed()) await this.#undo(name)
      throw error
    }
    return started
  }

  /** Stops an application that may have ended meanwhile; the reason of that end has been reported already. */
  async #undo(name: string): Promise<void> {
    const master = await this.#entries.get(name)?.started
    if (master === undefined || master.dead) return
    await new Promise<void>((resolve) => {
      master.watch({ down: () => resolve() })
      deliver(master, new StopMessage("shutdown"))
    })
  }

  async #ensure(
    application: Definition,
    kind: Kind,
    started: Array<string>,
    above: ReadonlyArray<string>
  ): Promise<void> {
    const path = [...above, application.name]
    const round = above.indexOf(application.name)
    if (round !== -1) throw new ApplicationCycle({ names: path.slice(round) })
    const running = this.#entries.get(application.name)
    if (running !== undefined) {
      await running.started
      return
    }
    for (const other of application.dependsOn ?? []) await this.#ensure(other, kind, started, path)
    if (this.#entries.has(application.name)) return this.#ensure(application, kind, started, above)
    await this.start(application, kind)
    started.push(application.name)
  }

  async stop(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw new ApplicationNotStarted({ name })
    const master = await entry.started
    if (!master.dead) await stopServer(master, "shutdown", Number.POSITIVE_INFINITY, "Application.stop")
  }
}

const tables = new WeakMap<Kernel, ApplicationTable>()

/** The applications of a system. */
export const tableOf = (kernel: Kernel): ApplicationTable => {
  const table = tables.get(kernel) ?? new ApplicationTable(kernel)
  tables.set(kernel, table)
  return table
}
