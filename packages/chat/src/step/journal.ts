/**
 * The journal of a step whose tools run: which calls may have begun, and what became of them.
 *
 * Owns: the states of the step's calls, and the intents that are not kept yet. Does not own the record, which the chat
 * makes, nor the calls.
 *
 * JOUR1. The intent of a call that writes is kept before its handler starts; intents that are noted together are kept by
 *        one save. If that save fails, the call is not started.
 * JOUR2. One save of the journal is under way at a time; what is noted meanwhile is kept by one more.
 * JOUR3. Whatever save is made while the step runs carries the journal as it is then.
 * JOUR4. Without a call that writes there is no save, and nothing to carry.
 * JOUR5. The outcome of such a call is carried by the next save; one is made for it while other calls go on running.
 * JOUR6. An outcome that no save carried yet is not lost with the chat's process, only with the program.
 */
import { type SessionError, storeFailure } from "../errors/index.ts"
import type { ChatRecord, OpenCall, OpenStep, StepHalt } from "../record/index.ts"
import type { ToolMessage, Usage } from "../model/index.ts"
import { keptHalt, type Opened, withResults } from "./openCalls.ts"
import type { ToolOutcome } from "../call/index.ts"
import { describe } from "../values/index.ts"

/** Hears that an intent is kept, or why not. */
export type Intended = (failure: SessionError | undefined) => void

/** A step whose tools run: where its results stand, and what its request used. */
export interface Journalled extends Opened {
  readonly usage: Usage
}

const none: ReadonlyMap<number, ToolMessage> = new Map()

const intended: OpenCall = { state: "intended" }

/** The journal of one step. */
export class Journal {
  readonly #due: () => void
  #make: (() => Journalled) | undefined
  /** What there is to carry, from the first call that writes (JOUR4). */
  #entry: Journalled | undefined
  #calls: Array<OpenCall> = []
  #results: Map<number, ToolMessage> | undefined
  #halts: Map<number, StepHalt> | undefined
  #waiting: Array<Intended> = []
  #saving: ReadonlyArray<Intended> | undefined
  /** Whether an outcome should be kept on its own (JOUR5). */
  #dirty = false
  #asked = false
  #isOver = false

  /** `due` is told that a save should be made. */
  constructor(due: () => void) {
    this.#due = due
  }

  /** The step's tools begin; `entry` is asked for when the first that writes does. */
  begin(entry: () => Journalled): void {
    this.#make = entry
  }

  /** Where a call is. */
  stateOf(position: number): OpenCall["state"] | undefined {
    return this.#calls[position]?.state
  }

  /** A call that writes wants to start; `told` hears when it may (JOUR1). */
  intend(position: number, done: Intended): void {
    if (this.#entry === undefined) {
      this.#entry = this.#make?.()
      this.#calls = [...(this.#entry?.open.calls ?? [])]
    }
    this.#calls[position] = intended
    this.#waiting.push(done)
    this.#askOnce()
  }

  /** A call is over; `goesOn` says whether others are not. */
  over(position: number, { message, halt }: ToolOutcome, goesOn: boolean): void {
    const wrote = this.#calls[position]?.state === "intended"
    this.#results ??= new Map()
    this.#results.set(position, message)
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

  /** Keeps the record, which carries the journal, and tells those whose intents it has. */
  save(keep: () => void | Promise<void>): void {
    const saving = this.#waiting
    this.#saving = saving
    this.#waiting = []
    this.#dirty = false
    this.#asked = false
    void this.#keep(keep, saving)
  }

  async #keep(keep: () => void | Promise<void>, saving: ReadonlyArray<Intended>): Promise<void> {
    const failure = await this.#kept(keep)
    this.#saving = undefined
    for (const done of saving) done(failure)
    if (this.isDue) this.#askOnce()
  }

  /** What a record says of the step (JOUR3, JOUR4). */
  get journalled(): Journalled | undefined {
    const entry = this.#entry
    if (entry === undefined || this.#isOver) return undefined
    const halt = this.#halt
    const calls = [...this.#calls]
    const open: OpenStep = { ...entry.open, calls, ...(halt === undefined ? {} : { halt: keptHalt(halt) }) }
    return { ...withResults({ thread: entry.thread, open }, this.#results ?? none), usage: entry.usage }
  }

  /** The step is over: its results are in the chat's own thread, and nothing else of it is held. */
  close(): void {
    this.#isOver = true
    this.#make = undefined
  }

  /** A record as it would be if the outcomes had been kept that came since (JOUR6). */
  recall(record: ChatRecord): ChatRecord {
    const { open, thread } = record
    const own = this.#entry?.open
    if (open === undefined || own?.at !== open.at || own.id !== open.id) return record
    const isLeft = (position: number): boolean => {
      const state = open.calls[position]?.state
      return state === "intended" || state === "new"
    }
    const results = new Map([...(this.#results ?? none)].filter(([position]) => isLeft(position)))
    const halt = this.#halt
    const known = halt === undefined ? open : { ...open, halt: keptHalt(halt) }
    return results.size === 0 ? record : { ...record, ...withResults({ thread, open: known }, results) }
  }

  /** Of several halts the first in call order counts. */
  get #halt(): StepHalt | undefined {
    if (this.#halts === undefined) return this.#entry?.open.halt
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
