/**
 * The newest record of each conversation that was saved or loaded last: the next save is compared with it, so that the
 * record is not read again.
 *
 * Owns: one record for each conversation, while one of the conversation's messages is referenced elsewhere, as by a live
 * chat. Does not own the messages.
 *
 * STAND1. A record is noted after its transaction is committed, never in it.
 * STAND2. A record counts only for the entry it was noted with, of the same conversation: not after another program's write,
 *         nor after the conversation was deleted and begun again.
 * STAND3. A record that continues a deleted conversation is no record of the next conversation of its id, even when that has
 *         as many entries.
 * STAND4. Of a conversation one record is held, the newest, however many entries it has: its messages lead to the
 *         conversation, not to the record each of them was saved with.
 */
import type { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"

/** The record of an entry, and the key of its conversation. */
export interface Standing {
  readonly key: number
  readonly record: Conversation
}

/** A conversation, and its newest noted record. */
interface Noted {
  readonly key: number
  readonly id: string
  newest: Conversation
}

/** The noted records. */
export class NewestRecords {
  /** By the newest message of each record that was noted (STAND4). */
  readonly #conversations = new WeakMap<Message.Message, Noted>()

  /** Notes a record that is in the database (STAND1). */
  note({ key, record }: Standing): void {
    const last = record.thread.messages.at(-1)
    if (last === undefined) return
    for (const entry of this.#knownBackwards(record)) {
      if (entry.key !== key) continue
      if (versionOf(record) >= versionOf(entry.newest)) entry.newest = record
      this.#conversations.set(last, entry)
      return
    }
    this.#conversations.set(last, { key, id: record.id, newest: record })
  }

  /** Whether the record continues a conversation of its id that is not the one of this key (STAND3). */
  isOfDeleted(record: Conversation, key: number): boolean {
    let isKnown = false
    for (const entry of this.#knownBackwards(record)) {
      if (entry.key === key) return false
      isKnown ||= entry.id === record.id
    }
    return isKnown
  }

  /** The key of the conversation of its id that the record continues, as far as that is known. */
  keyOf(record: Conversation): number | undefined {
    for (const entry of this.#knownBackwards(record)) if (entry.id === record.id) return entry.key
    return undefined
  }

  /** The noted record of that entry (STAND2), if the next one continues it. */
  before(next: Conversation, key: number, seq: number): Conversation | undefined {
    for (const record of this.#knownBackwards(next)) {
      if (record.key === key && record.newest.version === seq) return record.newest
    }
    return undefined
  }

  /** The conversations that messages of the record lead to, the last message first. */
  *#knownBackwards({ thread: { messages } }: Conversation): Generator<Noted, void> {
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]
      const record = message === undefined ? undefined : this.#conversations.get(message)
      if (record !== undefined) yield record
    }
  }
}

const versionOf = ({ version = 0 }: Conversation): number => version
