/**
 * Stores the inputs that arrive while a turn runs.
 *
 * Owns: the list of inputs that are not stored yet. Does not own the record, which the chat makes.
 *
 * KEEP1. At most one save runs at a time; all inputs that arrive meanwhile are stored by one more save.
 * KEEP2. The chat is notified of the end of each save exactly once, unless its process has ended.
 * KEEP3. When the save of an input fails while a running commit has the input in its inbox, that commit decides its
 *        result.
 */
import type { SaveRecord } from "../store/index.ts"
import type { ChatRecord } from "../record/index.ts"
import type { Mailbox } from "./inboxQueue.ts"
import type { Turn } from "./delivery.ts"

/** The notifications to the chat. */
export type InboxSettled = { readonly type: "inbox.saved" } | { readonly type: "inbox.failed"; readonly error: unknown }

/** The inputs of one chat's process that are not stored yet. */
export class InboxWriter {
  readonly #commit: SaveRecord
  #unsaved: Array<Turn> = []
  #saving: ReadonlyArray<Turn> | undefined

  /** The inbox of the running commit, and its inputs whose own save failed (KEEP3). */
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

  /** Stores the record, which contains all noted inputs. */
  save(record: ChatRecord, settled: (event: InboxSettled) => void): void {
    this.#saving = this.#unsaved
    this.#unsaved = []
    void this.#stored(record).then(settled)
  }

  /** Ends the save and returns its inputs. */
  settled(): ReadonlyArray<Turn> {
    const saved = this.#saving ?? []
    this.#saving = undefined
    return saved
  }

  /** Records the inbox of a commit that begins. */
  carry(mailbox: Mailbox): void {
    this.#carried = mailbox
  }

  /** The inputs of a failed save that no running commit contains. */
  refused(failed: ReadonlyArray<Turn>): ReadonlyArray<Turn> {
    const carried = new Set(this.#carried?.among(new Set(failed)))
    if (carried.size === 0) return failed
    this.#doubted = [...this.#doubted, ...carried]
    return failed.filter((turn) => !carried.has(turn))
  }

  /** Ends the commit and returns the doubted inputs that it decides. */
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
