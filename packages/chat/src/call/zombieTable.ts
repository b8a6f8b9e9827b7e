/**
 * The handlers of one system that outlived their calls (zombies).
 *
 * Owns: the list, and a process for each zombie, which the observer shows. Does not own the handlers, which cannot be
 * ended, nor the outcomes of their calls. It keeps only the listed data of a call, and no reference to its chat.
 *
 * ZOMBIE1. A handler is listed from the next turn of the event loop after its call is over until it ends. A handler
 *          that has ended by then is never listed.
 * ZOMBIE2. When a listed handler ends, telemetry is notified and `onLateResult` is called, exactly once. The system's log
 *          gets a failure of `onLateResult`.
 * ZOMBIE3. `size` plus `late` is the number of all zombies so far.
 * ZOMBIE4. The end of the system, or of the zombie's process, neither waits for a handler nor removes it from the list.
 * ZOMBIE5. Those who watch a conversation are called for its present zombies, for each new one, and for the end of each.
 */
import type { LateResult } from "../options/index.ts"
import { Process, type System, Telemetry } from "@troupe/otp"
import type { HandlerResult } from "../values/index.ts"
import type { Outcome, ToolCall } from "../model/index.ts"
import { callUnawaited } from "../async/index.ts"
import { copied } from "../json/index.ts"

/** A run that is given up. */
export interface GivenUp {
  readonly toolCall: ToolCall
  readonly sessionId: string | undefined
  readonly outcome: Zombie["outcome"]
  readonly since: number
  readonly onLateResult: ((late: LateResult) => void) | undefined
}

/** Called when a handler of a conversation is listed, or has ended (ZOMBIE5). */
interface Watcher {
  readonly sessionId: string
  /** `result` is the kind of the late result of a handler that has ended. */
  readonly changed: (run: GivenUp, result?: HandlerResult["type"]) => void
}

/** The late handlers of one system. */
export class ZombieTable {
  readonly #system: System.System
  readonly #listed = new Set<GivenUp>()
  readonly #watchers = new Set<Watcher>()
  #late = 0

  constructor(system: System.System) {
    this.#system = system
  }

  get size(): number {
    return this.#listed.size
  }

  get late(): number {
    return this.#late
  }

  list(): ReadonlyArray<Zombie> {
    const now = this.#system.clock.now()
    return Array.from(this.#listed, ({ toolCall: { id, name }, sessionId, outcome, since }) => ({
      toolCallId: id,
      name,
      sessionId,
      outcome,
      since,
      ageMs: now - since
    }))
  }

  /** Lists a handler. The caller calls the returned function with the handler's result. */
  add(run: GivenUp): (result: HandlerResult) => void {
    this.#listed.add(run)
    this.#report(run)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#show(run, promise)
    return (result) => {
      this.#listed.delete(run)
      this.#late++
      this.#report(run, result.type)
      resolve()
      this.#notify(run, result)
    }
  }

  /** Adds a watcher, which is called for the present zombies first; returns a function that removes it. */
  watch(watcher: Watcher): () => void {
    for (const run of this.#listed) if (run.sessionId === watcher.sessionId) watcher.changed(run)
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  #report(run: GivenUp, result?: HandlerResult["type"]): void {
    for (const watcher of this.#watchers) if (watcher.sessionId === run.sessionId) watcher.changed(run, result)
  }

  #show({ toolCall, since }: GivenUp, ended: Promise<void>): void {
    const { clock } = this.#system
    try {
      const pid = Process.spawn(this.#system, () => ended)
      Process.setLabel(pid, () => `Zombie ${toolCall.name}, ${Math.round(clock.now() - since)} ms`)
    } catch {
      // A stopped system spawns no process (ZOMBIE4).
    }
  }

  #notify({ toolCall, sessionId, outcome, since, onLateResult }: GivenUp, result: HandlerResult): void {
    const lateMs = this.#system.clock.now() - since
    const metadata = { toolCall, sessionId, outcome, result: result.type }
    Telemetry.notify(this.#system, "tool_call.late_completion", { lateMs }, metadata)
    if (onLateResult === undefined) return
    callUnawaited(this.#system, `onLateResult of the tool ${toolCall.name} failed`, () =>
      onLateResult({ toolCall: copied(toolCall), outcome, result, lateMs })
    )
  }
}

const tables = new WeakMap<System.System, ZombieTable>()

/** The table of a system; `undefined` before its first zombie. */
export const zombiesOf = (system: System.System): ZombieTable | undefined => tables.get(system)

const tableOf = (system: System.System): ZombieTable => {
  const known = tables.get(system)
  if (known !== undefined) return known
  const table = new ZombieTable(system)
  tables.set(system, table)
  return table
}

/** Lists a handler that outlived its call. */
export const outlives = (system: System.System, run: GivenUp): ((result: HandlerResult) => void) =>
  tableOf(system).add(run)

/** Watches the zombies of a conversation (ZOMBIE5); returns a function that ends it. */
export const watchZombies = (system: System.System, watcher: Watcher): (() => void) => tableOf(system).watch(watcher)

/** A handler that outlived its call. */
export interface Zombie {
  /** The call that the handler ran for. */
  readonly toolCallId: string
  /** The name of the tool. */
  readonly name: string
  /** The id of the conversation; `undefined` without one. */
  readonly sessionId: string | undefined
  /** The outcome of the call as known when the handler was given up, or `restarted` for the former run of a restarted call. */
  readonly outcome: Outcome | "restarted"
  /** The time when the call was over, in milliseconds on the system's clock. */
  readonly since: number
  /** The milliseconds since then. */
  readonly ageMs: number
}
