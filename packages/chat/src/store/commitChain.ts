/**
 * The writes of one process of a chat, one after another.
 *
 * Owns: the record that the store has, as far as the process knows. Does not own the record of the chart.
 *
 * DOOR1. A write follows the record that the store has. When a write fails or is not answered, the next one is an empty write after
 *        the same record: it makes a late write impossible, or is refused because the late write has come.
 * DOOR2. When a late write has come, the next write follows its record. When the store has a record of another program, the process
 *        ends, and the next one starts from that record.
 * DOOR3. A save whose write was answered with an error fails after that empty write only. If the store has the record all the same, the
 *        save has succeeded. If the empty write fails too, the error says that the outcome is unknown.
 * DOOR4. A save that is given up while other writes are before it is not written: the next record has nothing of it.
 */
import { isConflict, isFenced, SessionError } from "../errors/index.ts"
import { type Conversation, entriesBetween, type Entry, isSameRecord } from "../record/index.ts"
import { ignoreRejection } from "../async/index.ts"
import { describe } from "../values/index.ts"
import type { MemoryChange } from "../compaction/index.ts"
import { blank } from "./commitLog.ts"
import type { Appending } from "./sessionStore.ts"
import { isUnanswered } from "./storeCall.ts"

const none: ReadonlyArray<never> = []

/** Saves records after the one that the process began with. */
export abstract class CommitChain {
  #record: Conversation | undefined
  /** The write under way, or the last one. */
  #writing: Promise<void> | undefined
  /** The record of a write that failed or was not answered: the store may have it. */
  #doubted: Conversation | undefined

  constructor(record: Conversation | undefined) {
    this.#record = record
  }

  /** The number of the newest entry that this process has written, or began with. */
  get version(): number {
    return this.#record?.version ?? 0
  }

  /** Writes entries; resolves with the record that the store has then. */
  protected abstract append(
    entries: ReadonlyArray<Entry>,
    appending: Appending,
    changes: ReadonlyArray<MemoryChange>
  ): Promise<Conversation>

  /** Reads the record that the store has. */
  protected abstract load(): Promise<Conversation | undefined>

  /** Called when a save has succeeded. */
  protected abstract saved(record: Conversation): void

  /** Called when the store has a record of another program. */
  protected abstract overtaken(): void

  /** Called when a save has failed; returns the error to throw, or a promise of it. */
  protected abstract failed(error: unknown): unknown

  /** Saves the chat's record as {@link SaveRecord} does (DOOR4). */
  commit(...saving: Parameters<SaveRecord>): Promise<void> {
    return this.#queue(() => this.#commit(...saving))
  }

  /** Runs a write when those before it are over. */
  #queue<A>(write: () => Promise<A>): Promise<A> {
    const before = this.#writing
    const writing = before === undefined ? write() : before.then(write)
    const over = (): void => {
      if (this.#writing === settled) this.#writing = undefined
    }
    const settled: Promise<void> = writing.then(over, over)
    this.#writing = settled
    return writing
  }

  async #commit(...[record, takes = none, changes = none, isGivenUp]: Parameters<SaveRecord>): Promise<void> {
    try {
      if (this.#doubted !== undefined) await this.#closeDoor()
    } catch (error) {
      throw await this.failed(error)
    }
    if (isGivenUp?.() === true) throw givenUp(record.id)
    try {
      this.#record = await this.#write(entriesBetween(this.#record ?? blank(record.id), record), takes, changes)
    } catch (error) {
      if (isConflict(error)) this.overtaken()
      if (isConflict(error) || isFenced(error)) throw await this.failed(error)
      this.#doubted = record
      if (isUnanswered(error)) {
        ignoreRejection(this.#queue(() => this.#closeDoor()))
        throw await this.failed(error)
      }
      const hasCome = await this.#hasCome()
      if (hasCome !== true) throw await this.failed(hasCome === undefined ? unknown(error) : error)
    }
    this.saved(record)
  }

  #write(
    entries: ReadonlyArray<Entry>,
    takes: ReadonlyArray<string>,
    changes: ReadonlyArray<MemoryChange>
  ): Promise<Conversation> {
    return this.append(entries, { after: this.version, record: this.#record, takes }, changes)
  }

  /** Whether the store has the record of the write that failed (DOOR3); `undefined` if the empty write fails too, and the next save repeats it. */
  async #hasCome(): Promise<boolean | undefined> {
    try {
      return await this.#closeDoor()
    } catch (error) {
      return isConflict(error) ? false : undefined
    }
  }

  /** Returns whether the record of the write that failed has come (DOOR1, DOOR2). */
  async #closeDoor(): Promise<boolean> {
    const doubted = this.#doubted
    if (doubted === undefined) return false
    let hasCome = false
    try {
      this.#record = await this.#write(none, none, none)
    } catch (error) {
      if (!isConflict(error)) throw error
      const stored = await this.load()
      if (stored === undefined || !this.#isOwn(stored)) {
        this.overtaken()
        throw error
      }
      this.#record = stored
      hasCome = isSameRecord(stored, doubted)
    }
    this.#doubted = undefined
    return hasCome
  }

  /** Whether a late write of this process, or an empty one, brought the record. */
  #isOwn(stored: Conversation): boolean {
    const known = [this.#doubted, this.#record ?? blank(stored.id)]
    return stored.version === this.version + 1 && known.some((own) => own !== undefined && isSameRecord(stored, own))
  }
}

/** The error of a write that failed, when the empty write after it failed too (DOOR3). */
const unknown = (cause: unknown): SessionError =>
  new SessionError("store_failed", `${describe(cause)}, and whether the store has the record is not known`, {
    metadata: { outcome: "unknown" },
    cause
  })

/** The error of a save that was given up (DOOR4); the turn that gave it up does not read the error. */
const givenUp = (id: string): SessionError =>
  new SessionError("store_failed", `A save of the chat ${id} was given up before it began`)

/**
 * Saves a chat's record, in whose thread the inputs `takes` are, and the changes of memories of its turn (MEMO1); the next phase waits for
 * it. A save for which `isGivenUp` returns true before its write begins need not be written.
 */
export type SaveRecord = (
  record: Conversation,
  takes?: ReadonlyArray<string>,
  changes?: ReadonlyArray<MemoryChange>,
  isGivenUp?: () => boolean
) => void | Promise<void>
