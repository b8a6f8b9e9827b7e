/**
 * The records that were written or read last, by the newest message they have: what the next save is compared with, so that
 * it need not be read again.
 *
 * Owns nothing: a record is known as long as somebody else holds its newest message, as a living chat does.
 *
 * STAND1. What is noted is in the database: it is noted after its transaction, never in it.
 * STAND2. It counts only for the very entry it was noted with, of the very conversation: not after a write of another program,
 *         nor after the conversation was deleted and begun anew.
 * STAND3. A record that goes on from what is known of a conversation that was deleted is none of the next of its id, though that
 *         has as many entries.
 */
import type { ChatRecord, Message } from "@troupe/chat"

/** The record of an entry, and which entry that is. */
export interface Standing {
  readonly key: number
  readonly record: ChatRecord.ChatRecord
}

/** The records that are known. */
export class Standings {
  readonly #known = new WeakMap<Message.Message, Standing>()

  /** The record is in the database (STAND1). */
  note(standing: Standing): void {
    const newest = standing.record.thread.messages.at(-1)
    if (newest !== undefined) this.#known.set(newest, standing)
  }

  /** Whether the record goes on from a conversation of its id that is not the one of this key any more (STAND3). */
  isOfDeleted({ id, thread }: ChatRecord.ChatRecord, key: number): boolean {
    let isKnown = false
    const { messages } = thread
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]
      const standing = message === undefined ? undefined : this.#known.get(message)
      if (standing?.key === key) return false
      isKnown ||= standing?.record.id === id
    }
    return isKnown
  }

  /** The record of that entry, if it is known (STAND2) and the next one goes on from it. */
  before(next: ChatRecord.ChatRecord, key: number, seq: number): ChatRecord.ChatRecord | undefined {
    const { messages } = next.thread
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]
      const standing = message === undefined ? undefined : this.#known.get(message)
      if (standing?.key === key && standing.record.version === seq) return standing.record
    }
    return undefined
  }
}
