/**
 * The states of the tool calls of a chat, for its readers, beside its log.
 *
 * Owns: the number of the last change of each call, the readers that wait, and one timer. Does not own the calls: it reads their present
 * states when it publishes them.
 *
 * CALLS1. A call has one entry, whatever it reports: its newest state, without a place and without a cursor. A reader keeps one number. It
 *         gets the newest published state of each call once, and none between.
 * CALLS2. When a reader waits, the first change is published at once, and later changes at most once in 200 ms. There is a timer only
 *         while a reader waits and a state has changed. That calls begin is in the log: their first states are published after 200 ms.
 * CALLS3. When a step ends, its calls are forgotten. A handler that still runs (a zombie) is kept until its end was published.
 * CALLS4. A chat without a reader of calls has no object of this class, and a report costs one comparison.
 */
import type { System } from "@troupe/otp"
import { type ToolCallView, watchZombies } from "../call/index.ts"

/** The shortest time between two publications, in milliseconds. */
export const callsEveryMs = 200

/** The state of a tool call, as its chat reports it beside the events. */
export interface CallReport {
  /** As the provider gave it. */
  readonly id: string
  /**
   * `queued`: it waits for its turn; `running`: its handler runs; `draining`: its handler was cancelled, and the call waits for its end;
   * `waiting`: it waits for a person; `zombie`: the call is over, and its handler still runs; `ended`: that handler has ended.
   */
  readonly status: "queued" | "running" | "draining" | "waiting" | "zombie" | "ended"
  /** The last `progress` value of the handler. */
  readonly progress: unknown
  /** The calls of the sub-agent that the call runs, if it has `events`. */
  readonly calls?: ReadonlyArray<CallReport> | undefined
}

/** `done` is in the log. */
const statuses: Readonly<Record<Exclude<ToolCallView["status"], "done">, CallReport["status"]>> = {
  queued: "queued",
  gating: "queued",
  running: "running",
  cancelling: "draining",
  restarting: "draining",
  suspended: "waiting"
}

const reportOf = ({ id, status, progress, child }: ToolCallView): ReadonlyArray<CallReport> => {
  if (status === "done") return []
  const calls = child?.toolCalls.flatMap(reportOf)
  return [{ id, status: statuses[status], progress, ...(calls !== undefined && { calls }) }]
}

/** The state of a call, and the number of its last change. */
interface Entry {
  readonly call: ToolCallView
  readonly version: number
}

/** A zombie; without a number it is not published yet. */
interface Late {
  readonly status: "zombie" | "ended"
  version?: number
}

export class CallFeed {
  readonly #system: System.System
  /** Returns the calls of the running step. */
  readonly #calls: () => ReadonlyArray<ToolCallView>
  /** The calls in call order: an id may be that of several calls. */
  #entries: Array<Entry> = []
  readonly #late = new Map<string, Late>()
  /** The calls that have reported since the last publication. */
  readonly #reported = new Set<string>()
  readonly #waiting = new Set<() => void>()
  readonly #unwatch: () => void
  #version = 0
  #hasCalls = false
  #isChanged = true
  #publishAt = 0
  #timer: unknown

  constructor(system: System.System, chat: string, calls: () => ReadonlyArray<ToolCallView>) {
    this.#system = system
    this.#calls = calls
    this.#unwatch = watchZombies(system, {
      sessionId: chat,
      changed: ({ toolCall, outcome }, result) => {
        // The former run of a restarted call is no state of the call.
        if (outcome !== "restarted") this.#zombie(toolCall.id, result !== undefined)
      }
    })
  }

  /** The number of entries (CALLS1). */
  get held(): number {
    return this.#entries.length + this.#late.size
  }

  /** A call has changed, or the calls have begun; the call of this id has reported progress, or its sub-agent has. */
  changed(id?: string): void {
    if (id !== undefined) this.#reported.add(id)
    this.#isChanged = true
    if (!this.#hasCalls) {
      this.#hasCalls = true
      this.#publishAt = Math.max(this.#publishAt, this.#system.clock.now() + callsEveryMs)
    }
    this.#arm()
  }

  /** Forgets the calls of the step (CALLS3). */
  stepOver(): void {
    this.#entries = []
    this.#hasCalls = false
    this.#isChanged = false
    this.#reported.clear()
    for (const [id, { status, version }] of this.#late) {
      if (version === undefined) this.#isChanged = true
      else if (status === "ended") this.#late.delete(id)
    }
    if (!this.#isChanged) this.#stopTimer()
  }

  /** The next published state after a number, and its own number. A reader begins with 0, and gets the present states. */
  after(version: number): { readonly report: CallReport; readonly version: number } | undefined {
    let next: { readonly report: CallReport; readonly version: number } | undefined
    const see = (found: number, report: CallReport | undefined): void => {
      if (report !== undefined && found > version && (next === undefined || found < next.version))
        next = { report, version: found }
    }
    for (const { call, version: found } of this.#entries) see(found, reportOf(call)[0])
    for (const [id, { status, version: found = 0 }] of this.#late)
      if (version > 0 || status === "zombie") see(found, { id, status, progress: undefined })
    return next
  }

  /** Calls the function, once, when something was published (CALLS2). */
  wait(wake: () => void): void {
    this.#waiting.add(wake)
    this.#arm()
  }

  /** The reader waits no longer. */
  leave(wake: () => void): void {
    this.#waiting.delete(wake)
    if (this.#waiting.size === 0) this.#stopTimer()
  }

  /** The last reader is gone. */
  close(): void {
    this.#stopTimer()
    this.#unwatch()
  }

  #zombie(id: string, isOver: boolean): void {
    const known = this.#late.get(id)
    // A handler that ended before it was published is over like any other.
    if (isOver && known?.version === undefined) return void this.#late.delete(id)
    this.#late.set(id, { status: isOver ? "ended" : "zombie" })
    this.#isChanged = true
    this.#arm()
  }

  #arm(): void {
    if (!this.#isChanged || this.#waiting.size === 0 || this.#timer !== undefined) return
    const { clock } = this.#system
    const left = this.#publishAt - clock.now()
    if (left > 0) this.#timer = clock.setTimeout(this.#publish, left)
    else this.#publish()
  }

  #stopTimer(): void {
    if (this.#timer === undefined) return
    this.#system.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #publish = (): void => {
    this.#timer = undefined
    this.#isChanged = false
    this.#publishAt = this.#system.clock.now() + callsEveryMs
    const calls = this.#calls()
    this.#hasCalls ||= calls.length > 0
    this.#entries = calls.map((call, index) => {
      const known = this.#entries[index]
      const isSame = known?.call.status === call.status && known.call.startedAt === call.startedAt
      return isSame && !this.#reported.has(call.id) ? known : { call, version: ++this.#version }
    })
    for (const late of this.#late.values()) late.version ??= ++this.#version
    this.#reported.clear()
    const waiting = Array.from(this.#waiting)
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
