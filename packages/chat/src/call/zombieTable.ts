/**
 * The handlers of one system that outlived their calls.
 *
 * Owns: the list, and a process for each so that the observer shows it. Does not own the handlers, which nothing can end, nor
 * what their calls came to. It keeps of a call what is listed, and nothing of its chat.
 *
 * ZOMBIE1. A handler is listed from the turn of the event loop after its call was over until it ends; one that has ended by
 *          then was never listed.
 * ZOMBIE2. Of each listed handler that ends, telemetry and `onLateResult` are told once; what those throw changes nothing.
 * ZOMBIE3. Listed and late together are all there ever were.
 * ZOMBIE4. The end of a system, or of the process that stands for it, neither waits for a handler nor forgets it.
 */
import { Process, type System, Telemetry } from "@troupe/otp"
import type { HandlerResult } from "../values/index.ts"
import type { Outcome, ToolCall } from "../model/index.ts"
import { ignoreRejection } from "../async/index.ts"
import { copied } from "../json/index.ts"
import type { OnLateResult } from "../options/index.ts"

/** A run that is given up. */
export interface GivenUp {
  readonly toolCall: ToolCall
  readonly sessionId: string | undefined
  readonly outcome: Zombie["outcome"]
  readonly since: number
  readonly onLateResult: OnLateResult | undefined
}

/** The late handlers of one system. */
export class ZombieTable {
  readonly #system: System.System
  readonly #listed = new Set<GivenUp>()
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

  /** Lists a handler; the function given back is told what it came to. */
  add(run: GivenUp): (result: HandlerResult) => void {
    this.#listed.add(run)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#show(run, promise)
    return (result) => {
      this.#listed.delete(run)
      this.#late++
      resolve()
      this.#notify(run, result)
    }
  }

  #show({ toolCall, since }: GivenUp, ended: Promise<void>): void {
    const { clock } = this.#system
    try {
      const pid = Process.spawn(this.#system, () => ended)
      Process.setLabel(pid, () => `Zombie ${toolCall.name}, ${Math.round(clock.now() - since)} ms`)
    } catch {
      // A stopped system shows nothing any more (ZOMBIE4).
    }
  }

  #notify({ toolCall, sessionId, outcome, since, onLateResult }: GivenUp, result: HandlerResult): void {
    const lateMs = this.#system.clock.now() - since
    const metadata = { toolCall, sessionId, outcome, result: result.type }
    Telemetry.notify(this.#system, "tool_call.late_completion", { lateMs }, metadata)
    if (onLateResult === undefined) return
    try {
      ignoreRejection(onLateResult({ toolCall: copied(toolCall), outcome, result, lateMs }))
    } catch {
      // The listener's fault is its own (ZOMBIE2).
    }
  }
}

const tables = new WeakMap<System.System, ZombieTable>()

/** What is listed of a system; nothing before the first. */
export const zombiesOf = (system: System.System): ZombieTable | undefined => tables.get(system)

/** Lists a handler that outlived its call. */
export const outlives = (system: System.System, run: GivenUp): ((result: HandlerResult) => void) => {
  let table = tables.get(system)
  if (table === undefined) {
    table = new ZombieTable(system)
    tables.set(system, table)
  }
  return table.add(run)
}

/**
 * A handler that outlived its call.
 *
 * **Details**: `outcome` is how the call ended, as far as that was known when the handler was given up; `restarted` for the
 * former run of a call that was restarted.
 *
 * **Units and defaults**: `since` is when the call was over, in milliseconds on the system's clock, and `ageMs` how long ago
 * that is.
 */
export interface Zombie {
  readonly toolCallId: string
  readonly name: string
  readonly sessionId: string | undefined
  readonly outcome: Outcome | "restarted"
  readonly since: number
  readonly ageMs: number
}
