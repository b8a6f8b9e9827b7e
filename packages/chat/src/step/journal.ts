/**
 * The journal of a step while its tools run: which calls may have begun, and their outcomes.
 *
 * Owns: the states of the step's calls, and the intents that are not stored yet. Does not own the record, which the chat
 * makes, nor the calls.
 *
 * JOUR1. The intent of a call that writes is stored before its handler starts; intents noted together share one save. If
 *        that save fails, the call is not started. One save of the journal is under way at a time; all later notes share the
 *        next save.
 * JOUR4. Without a call that writes there is no save, and no journal in the record.
 * JOUR5. The next save includes the outcome of such a call. While other calls still run, the outcome causes a save of its
 *        own.
 * JOUR6. An outcome that is not stored yet survives the death of the chat's process, but not the end of the program.
 * JOUR7. The usage of a sub-agent is in a record exactly when the outcome of its call is, or what was counted when it waited.
 */
import { type SessionError, storeFailure } from "../errors/index.ts"
import { continuesChild, type Conversation, type OpenCall, type OpenStep, type StepHalt } from "../record/index.ts"
import type { ToolMessage } from "../model/index.ts"
import * as Usage from "../model/Usage.ts"
import { keptHalt, type Opened, withResults } from "./openCalls.ts"
import type { ToolOutcome } from "../call/index.ts"
import type { HaltOrder } from "../options/index.ts"
import { describe } from "../values/index.ts"

/** A step whose tools run: its thread and open step, and the usage of its request. */
export interface Journalled extends Opened {
  readonly usage: Usage.Usage
}

const none: ReadonlyMap<number, ToolMessage> = new Map()

const intended = { state: "intended" } as const satisfies OpenCall

/** Whether the intent of a call is noted. */
const mayHaveRun = (call: OpenCall | undefined): boolean => call?.state === "intended" || continuesChild(call)

/** The journal of one step. */
export class Journal {
  readonly #due: () => void
  #make: (() => Journalled) | undefined
  /** The journal's entry, from the first call that writes (JOUR4). */
  #entry: Journalled | undefined
  #calls: Array<OpenCall> = []
  #results: Map<number, ToolMessage> | undefined
  #halts: Map<number, StepHalt> | undefined
  /** The usage of the sub-agents of calls that are over. */
  #usages: Map<number, Usage.Usage> | undefined
  #haltOrder: HaltOrder | undefined
  #waiting: Array<(failure: SessionError | undefined) => void> = []
  #saving: ReadonlyArray<(failure: SessionError | undefined) => void> | undefined
  /** Whether an outcome requires a save of its own (JOUR5). */
  #dirty = false
  #asked = false
  #isOver = false

  /** `due` is called when a save should be made. */
  constructor(due: () => void) {
    this.#due = due
  }

  /** The step's tools begin; `entry` is called when the first call writes. */
  begin(entry: () => Journalled, haltOrder?: HaltOrder): void {
    this.#make = entry
    this.#haltOrder = haltOrder
  }

  /** The state of a call. */
  callAt(position: number): OpenCall | undefined {
    return this.#calls[position]
  }

  /**
   * Notes the intent of a call that writes; `done` is called when it may start (JOUR1). A call that continues a sub-agent keeps
   * the decisions: they are the intent. `given` are the arguments that a person gave.
   */
  intend(
    position: number,
    done: (failure: SessionError | undefined) => void,
    given?: Readonly<Record<string, unknown>>
  ): void {
    if (this.#entry === undefined) {
      this.#entry = this.#make?.()
      this.#calls = [...(this.#entry?.open.calls ?? [])]
    }
    if (!continuesChild(this.#calls[position])) {
      this.#calls[position] = given === undefined ? intended : { ...intended, arguments: given }
    }
    this.#waiting.push(done)
    this.#askOnce()
  }

  /** Notes the outcome of a call; `goesOn` is whether others still run. */
  over(position: number, { message, halt, childUsage }: ToolOutcome, goesOn: boolean): void {
    const wrote = mayHaveRun(this.#calls[position])
    this.#results ??= new Map()
    this.#results.set(position, message)
    if (childUsage !== undefined) {
      this.#usages ??= new Map()
      this.#usages.set(position, childUsage)
    }
    if (halt !== undefined) {
      this.#halts ??= new Map()
      this.#halts.set(position, halt)
    }
    if (!wrote || !goesOn) return
    this.#dirty = true
    this.#askOnce()
  }

  /** Whether a save should begin. */
  get isDue(): boolean {
    return this.#saving === undefined && (this.#waiting.length > 0 || this.#dirty)
  }

  /** Saves the record with the journal, and calls the callbacks of its intents. */
  save(keep: () => void | Promise<void>): void {
    const saving = this.#waiting
    this.#saving = saving
    this.#waiting = []
    this.#dirty = false
    this.#asked = false
    void this.#keep(keep, saving)
  }

  async #keep(
    keep: () => void | Promise<void>,
    saving: ReadonlyArray<(failure: SessionError | undefined) => void>
  ): Promise<void> {
    const failure = await this.#kept(keep)
    this.#saving = undefined
    for (const done of saving) done(failure)
    if (this.isDue) this.#askOnce()
  }

  /** The journal as a record includes it (JOUR3, JOUR4). */
  get journalled(): (Opened & { readonly usage: Usage.Usage }) | undefined {
    const entry = this.#entry
    if (entry === undefined || this.#isOver) return undefined
    const halt = this.#halt
    const calls = [...this.#calls]
    const open: OpenStep = { ...entry.open, calls, ...(halt !== undefined && { halt: keptHalt(halt) }) }
    return {
      ...withResults({ thread: entry.thread, open }, this.#results ?? none),
      usage: this.#usageWith(entry.usage)
    }
  }

  /** The usage with that of sub-agents whose calls are over: of all, or of those in these positions (JOUR7). */
  #usageWith(usage: Usage.Usage, positions?: ReadonlyMap<number, unknown>): Usage.Usage {
    const counted = Array.from(this.#usages ?? []).filter(([position]) => positions?.has(position) !== false)
    return counted.reduce((sum, [, more]) => Usage.add(sum, more), usage)
  }

  /** How many messages of that record stay as they are: up to the first call without a result. */
  get settled(): number | undefined {
    const entry = this.#entry
    if (entry === undefined || this.#isOver) return undefined
    let at = 0
    while (this.#calls[at]?.state === "done" || this.#results?.has(at) === true) at++
    return entry.open.at + 1 + at
  }

  /** Ends the journal: the step is over, and its results are in the chat's own thread. */
  close(): void {
    this.#isOver = true
    this.#make = undefined
  }

  /** The record with the outcomes that came after its save (JOUR6). */
  recall(record: Conversation): Conversation {
    const { open, thread } = record
    const own = this.#entry?.open
    if (open === undefined || own?.at !== open.at || own.id !== open.id) return record
    const isLeft = (position: number): boolean => {
      const call = open.calls[position]
      return call?.state === "new" || mayHaveRun(call)
    }
    const results = new Map([...(this.#results ?? none)].filter(([position]) => isLeft(position)))
    const halt = this.#halt
    const known = halt === undefined ? open : { ...open, halt: keptHalt(halt) }
    if (results.size === 0) return record
    const usage = this.#usageWith(record.usage, results)
    return { ...record, usage, ...withResults({ thread, open: known }, results) }
  }

  /** The halt that counts so far. */
  get #halt(): StepHalt | undefined {
    if (this.#halts === undefined) return this.#entry?.open.halt
    if (this.#haltOrder === "observed") return this.#halts.values().next().value
    return this.#halts.get(Math.min(...this.#halts.keys()))
  }

  #askOnce(): void {
    if (this.#saving !== undefined || this.#asked) return
    this.#asked = true
    this.#due()
  }

  async #kept(keep: () => void | Promise<void>): Promise<SessionError | undefined> {
    try {
      await keep()
      return undefined
    } catch (cause) {
      return storeFailure(
        `The intent of a tool call could not be stored: ${describe(cause)}; the call was not started`,
        cause
      )
    }
  }
}
