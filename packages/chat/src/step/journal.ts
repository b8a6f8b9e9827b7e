/**
 * The journal of a step while its tools run: when the intents and outcomes of its calls are stored.
 *
 * Owns: the saves that are due, and the intents that are not stored yet. Does not own the calls, whose states are the record's,
 * nor the record, which the chat makes.
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
import {
  type AgentRef,
  continuesChild,
  type Conversation,
  type OpenCall,
  type OpenStep,
  type StepHalt,
  using
} from "../record/index.ts"
import type { ToolMessage } from "../model/index.ts"
import * as Usage from "../model/Usage.ts"
import { keptHalt, type Opened, withResults, withResultsAt } from "./openCalls.ts"
import type { BatchCalls } from "../batch/index.ts"
import type { HaltOrder } from "../options/index.ts"
import { describe } from "../values/index.ts"

/** A step whose tools run: its thread and open step, and the usage of its request. */
export interface Journalled extends Opened {
  readonly usage: Usage.Usage
}

/** The calls of a step whose tools run, which of their halts counts, and the step without them. */
interface JournalledCalls {
  readonly calls: BatchCalls
  readonly haltOrder: HaltOrder | undefined
  readonly make: () => Journalled
}

type Done = (failure: SessionError | undefined) => void

/** Whether a record says of a call that its outcome may come later. */
const isLeft = (call: OpenCall | undefined): boolean =>
  call?.state === "new" || call?.state === "intended" || continuesChild(call)

/** The journal of one step. */
export class Journal {
  readonly #due: () => void
  #step: JournalledCalls | undefined
  /** The journal's entry, from the first call that writes (JOUR4). */
  #entry: Journalled | undefined
  #waiting: Array<Done> = []
  #saving: ReadonlyArray<Done> | undefined
  /** Whether an outcome requires a save of its own (JOUR5). */
  #dirty = false
  #asked = false
  #isOver = false

  /** `due` is called when a save should be made. */
  constructor(due: () => void) {
    this.#due = due
  }

  /** The step's tools begin; the step is made when the first call writes. */
  begin(step: JournalledCalls): void {
    this.#step = step
  }

  /** The intent of a call that writes was noted; `done` is called when it may start (JOUR1). */
  intend(done: Done): void {
    this.#entry ??= this.#step?.make()
    this.#waiting.push(done)
    this.#askOnce()
  }

  /** A call that may have run is over; `goesOn` is whether others still run (JOUR5). */
  over(goesOn: boolean): void {
    if (this.#entry === undefined || !goesOn) return
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

  async #keep(keep: () => void | Promise<void>, saving: ReadonlyArray<Done>): Promise<void> {
    const failure = await this.#kept(keep)
    this.#saving = undefined
    for (const done of saving) done(failure)
    if (this.isDue) this.#askOnce()
  }

  /** The journal as a record includes it (JOUR3, JOUR4). */
  get journalled(): Journalled | undefined {
    const [entry, calls] = [this.#entry, this.#step?.calls]
    if (entry === undefined || calls === undefined || this.#isOver) return undefined
    const halt = this.#haltOver(entry.open)
    const open = { ...entry.open, calls: calls.all.map((call) => call.open), ...(halt !== undefined && { halt }) }
    return { ...withResultsAt({ thread: entry.thread, open }, calls.resultAt), usage: this.#usageWith(entry.usage) }
  }

  /** The usage with that of sub-agents whose calls are over: of all, or of those in these positions (JOUR7). */
  #usageWith(usage: Usage.Usage, positions?: ReadonlyMap<number, unknown>): Usage.Usage {
    let sum = usage
    for (const { index, outcome } of this.#step?.calls.own ?? []) {
      const more = positions?.has(index) === false ? undefined : outcome?.childUsage
      if (more !== undefined) sum = Usage.add(sum, more)
    }
    return sum
  }

  /** Ends the journal: the step is over, and its results are in the chat's own thread. */
  close(): void {
    this.#isOver = true
  }

  /** The record with the outcomes that came after its save (JOUR6). */
  recall(record: Conversation): Conversation {
    const { open, thread } = record
    const own = this.#entry?.open
    if (open === undefined || own?.at !== open.at || own.id !== open.id) return record
    const results = new Map<number, ToolMessage>()
    for (const { index, outcome } of this.#step?.calls.own ?? [])
      if (outcome !== undefined && isLeft(open.calls[index])) results.set(index, outcome.message)
    if (results.size === 0) return record
    const halt = this.#haltOver(own)
    const known = halt === undefined ? open : { ...open, halt }
    return {
      ...record,
      usage: this.#usageWith(record.usage, results),
      ...withResults({ thread, open: known }, results)
    }
  }

  /** The halt that counts so far, as it is stored. */
  #haltOver({ halt: former }: OpenStep): StepHalt | undefined {
    const halt = this.#step?.calls.haltsIn(this.#step.haltOrder)[0] ?? former
    return halt && keptHalt(halt)
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

/** The record of a running step with its journal; the calls of an open step had their request before. */
export const withJournal = (
  record: Conversation,
  now: NonNullable<Journal["journalled"]>,
  agent: AgentRef | undefined
): Conversation => {
  const { usage } = now
  const chain = using(record.chain, { requests: record.open === undefined ? 1 : 0, usage, timeMs: 0 })
  const of = agent === undefined ? {} : { agent }
  return { ...record, ...now, ...of, usage: Usage.add(record.usage, usage), chain, draft: undefined }
}
