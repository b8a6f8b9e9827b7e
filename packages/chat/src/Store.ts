/**
 * The port to where chats are kept.
 *
 * @module
 */
import type { ChatRecord } from "./ChatRecord.ts"
import type { Message } from "./Message.ts"

/**
 * Keeps the committed state of chats.
 *
 * **Contract**: `save` has kept the record when it returns, or when its promise resolves; the chat goes on only then. A
 * record replaces the one before it. `load` gives the last saved one. A throw or a rejection says that the record was not
 * kept; that, or no answer in five seconds, ends the chat's turn with a `store_failed` error, and the next turn saves again. A save
 * that settles after that is overwritten by the newest record kept since.
 * Records are plain data.
 *
 * **Concurrency**: operations on one chat come one after another, but behind one that has not settled in five seconds; those on different chats at the same time. Two Troupes
 * must not keep the same chat at once.
 */
export interface Store {
  readonly load: (id: string) => ChatRecord | undefined | Promise<ChatRecord | undefined>
  readonly save: (record: ChatRecord, precondition?: Precondition) => void | Saved | Promise<void | Saved>
  readonly delete: (id: string) => void | Promise<void>
}

/**
 * One committed entry of a conversation's log. Entries are added, never changed.
 *
 * **Details**
 *
 * - `seq`: 1 for the first of a conversation, one more each time
 * - `kind`: `saved` by its chat, `forked` from another conversation, `rewound` to an earlier entry of its own
 * - `from`: where it was forked from, or rewound to
 * - `kept`: how many messages of the entry before stay
 * - `messages`: those that were added behind them
 * - `state`: all else of the record
 * - `isStep`: whether a fork or a rewind may lead here: no step was open
 *
 * **Units and defaults**: `at` is in milliseconds since the epoch.
 */
export interface Commit {
  readonly seq: number
  readonly at: number
  readonly kind: "saved" | "forked" | "rewound"
  readonly from?: { readonly id: string; readonly seq: number } | undefined
  readonly kept: number
  readonly messages: ReadonlyArray<Message>
  readonly state: Omit<ChatRecord, "id" | "thread" | "version">
  readonly isStep: boolean
}

/**
 * Under what condition something is written: the conversation's newest entry is `after` (0 for a new one), or was written by
 * the same `writer`. A writer is one running Troupe.
 */
export interface Precondition {
  readonly writer: string
  readonly after: number
}

/** What a save came to: the number of its entry. */
export interface Saved {
  readonly seq: number
}

/** What is asked of a list. `search` is text that a message has, in any case; `limit` is 50. */
export interface ListOptions {
  readonly prefix?: string | undefined
  readonly search?: string | undefined
  readonly limit?: number | undefined
  /** The `next` of the page before. */
  readonly after?: string | undefined
}

/** A conversation in a list; `title` is the beginning of the first thing the user said. */
export interface ChatSummary {
  readonly id: string
  readonly title: string
  readonly seq: number
  readonly messages: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly running: boolean
}

/** A page of a list, those last written first. Without `next` it is the last. */
export interface ChatList {
  readonly chats: ReadonlyArray<ChatSummary>
  readonly next?: string | undefined
}

/** Now, or later. */
type Answer<A> = A | Promise<A>

/**
 * A store that keeps the log of each conversation: the newest record, and every one before it.
 *
 * **Contract**: as {@link Store}, and
 *
 * - `save` adds an entry, and is refused with a `StoreConflict` when the precondition does not hold; without one it is not
 *   looked at. Its cost is that of what was added, not that of the conversation.
 * - `load` gives the newest record, its `version` the number of its entry; its `draft` is the one kept since, else the record's own.
 * - `at` gives the record of an entry.
 * - `fork` begins a conversation with the record of another's entry, the newest one that `isStep` unless `at` says; without the inputs that waited there.
 * - `rewind` adds an entry that stands where an earlier one did.
 * - `keepDraft` keeps what a reply that streams has said so far, in the place of what it had said before; the next entry
 *   removes it. It is no entry. Where `after` is not the number of the newest entry, the draft is late, and dropped: it may
 *   come while an entry is written, or behind it.
 * - `expire` deletes what was not written for longer than the store's time to live, and says how many those were.
 */
export interface SessionStore extends Store {
  readonly save: (record: ChatRecord, precondition?: Precondition) => Answer<Saved>
  readonly history: (
    id: string,
    options?: { readonly after?: number | undefined; readonly limit?: number | undefined }
  ) => Answer<ReadonlyArray<Commit>>
  readonly at: (id: string, seq: number) => Answer<ChatRecord | undefined>
  readonly fork: (id: string, to: string, at?: number) => Answer<ChatRecord>
  readonly rewind: (id: string, seq: number, precondition?: Precondition) => Answer<ChatRecord>
  readonly list: (options?: ListOptions) => Answer<ChatList>
  readonly keepDraft: (id: string, text: string, after: number) => Answer<void>
  readonly expire: () => Answer<number>
  readonly close: () => Answer<void>
}

/** Keeps records as long as the program runs. */
export const memory = (): Store => {
  const records = new Map<string, ChatRecord>()
  return {
    load: (id) => records.get(id),
    save: (record) => void records.set(record.id, record),
    delete: (id) => void records.delete(id)
  }
}
