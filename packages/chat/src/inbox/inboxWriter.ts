/**
 * Has the inputs stored that arrive while a turn runs.
 *
 * Owns: which inputs the store does not have yet. Does not own the record, which the chat makes.
 *
 * KEEP1. One save is under way at a time; what arrives meanwhile is stored by one more, however much it is.
 * KEEP2. The chat hears of the end of each save, once, unless its process has ended.
 * KEEP3. An input whose save failed while a commit had it in its inbox is decided by that commit.
 */
import type { SaveRecord } from "../store/index.ts"
import type { ChatRecord } from "../record/index.ts"
import type { Mailbox } from "./inboxQueue.ts"
import type { Turn } from "./delivery.ts"

/** What the chat hears. */
export type InboxSettled = { readonly type: "inbox.saved" } | { readonly type: "inbox.failed"; readonly error: unknown }

/** The inputs of one chat's process that are not stored yet. */
export class InboxWriter {
  readonly #commit: SaveRecord
  #unsaved: Array<Turn> = []
  #saving: ReadonlyArray<Turn> | undefined

  /** What the commit under way has in its inbox, and those of it whose own save failed (KEEP3). */
  #carried: Mailbox | undefined
  #doubted: ReadonlyArray<Turn> = []

  constructor(commit: SaveRecord) {
    this.#commit = commit
  }

  /** Whether a save should begin. */
  get isDue(): boolean {
    return this.#saving === undefined && this.#unsaved.length > 0
  }

  note(turn: Turn): void {
    this.#unsaved.push(turn)
  }

  /** Stores the record, which has all that was noted. */
  save(record: ChatRecord, settled: (event: InboxSettled) => void): void {
    this.#saving = this.#unsaved
    this.#unsaved = []
    void this.#stored(record).then(settled)
  }

  /** The save is over; these are the inputs it was for. */
  settled(): ReadonlyArray<Turn> {
    const saved = this.#saving ?? []
    this.#saving = undefined
    return saved
  }

  /** A commit begins, with these in its inbox. */
  carry(mailbox: Mailbox): void {
    this.#carried = mailbox
  }

  /** Of these, whose save failed, those that no commit under way may still keep. */
  refused(failed: ReadonlyArray<Turn>): ReadonlyArray<Turn> {
    const carried = new Set(this.#carried?.among(new Set(failed)))
    if (carried.size === 0) return failed
    this.#doubted = [...this.#doubted, ...carried]
    return failed.filter((turn) => !carried.has(turn))
  }

  /** The commit is over; these are the inputs that it decides. */
  decided(): ReadonlyArray<Turn> {
    const doubted = this.#doubted
    this.#carried = undefined
    if (doubted.length > 0) this.#doubted = []
    return doubted
  }

  async #stored(record: ChatRecord): Promise<InboxSettled> {
    try {
      await this.#commit(record)
      return { type: "inbox.saved" }
    } catch (error) {
      return { type: "inbox.failed", error }
    }
  }
}
