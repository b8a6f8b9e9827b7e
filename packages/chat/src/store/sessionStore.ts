/** The ports of stores: what a store loads, saves, lists and refuses. */

import type { ChatRecord } from "../record/index.ts"
import type { Commit } from "./commitLog.ts"

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
 * must not keep the same chat at once, unless the store keeps a log ({@link SessionStore}).
 */
export interface Store {
  readonly load: (id: string) => ChatRecord | undefined | Promise<ChatRecord | undefined>
  readonly save: (record: ChatRecord, precondition?: Precondition) => void | Saved | Promise<void | Saved>
  readonly delete: (id: string) => void | Promise<void>
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

/**
 * What is asked of a list.
 *
 * - `prefix`: what the id begins with, letter by letter. Such a list, and a search in it, costs what has the prefix; in memory
 *   what has the part of it up to its first slash
 * - `search`: text that a message of the newest record has, in any case
 * - `limit`: conversations on a page, 50 unless told otherwise
 * - `after`: the `next` of the page before
 */
export interface ListOptions {
  readonly prefix?: string | undefined
  readonly search?: string | undefined
  readonly limit?: number | undefined
  readonly after?: string | undefined
}

/** Which entries of a history: those behind the entry `after`, and at most `limit` of them, 50 unless told otherwise. */
export interface HistoryOptions {
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

/** A conversation in a list; `title` is the beginning of the first thing the user said, times are whole milliseconds. */
export interface ChatSummary {
  readonly id: string
  readonly title: string
  readonly seq: number
  readonly messages: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly running: boolean
}

/**
 * A page of a list, those last written first. Without `next` it is the last. A conversation that nobody writes meanwhile is on
 * one page, once.
 */
export interface ChatList {
  readonly chats: ReadonlyArray<ChatSummary>
  readonly next?: string | undefined
}

/**
 * A store that keeps the log of each conversation: the newest record, and every one before it.
 *
 * **Contract**: as {@link Store}, and
 *
 * - `save` adds an entry, and is refused when the precondition does not hold (`store_conflict`); without one it is not
 *   looked at. So is one of a record that goes on, message for message the same objects, from a conversation of this id that was
 *   deleted since. Its cost is that of what was added, not that of the conversation.
 * - `load` gives the newest record, its `version` the number of its entry; its `draft` is the one kept since, else the record's own.
 * - `history` gives entries, the oldest first; none of a conversation it does not have.
 * - `at` gives the record of an entry, its `version` that entry's number.
 * - `fork` begins a conversation with the record of another's entry, the newest one that `isStep` unless `at` says; without
 *   the inputs that waited there. Neither knows of the other afterwards.
 * - `rewind` adds an entry that stands where an earlier one did, with the inputs that wait now; the entry 0 is the beginning,
 *   where nothing was said.
 * - `keepDraft` keeps what a reply that streams has said so far, in the place of what it had said before; the next entry
 *   removes it. It is no entry. Where `after` is not the number of the newest entry, the draft is late, and dropped: it may
 *   come while an entry is written, or behind it.
 * - `expire` deletes what had no new entry for longer than `ttlMs`, but for the ids of which `isKept` is true, and says how
 *   many those were; none without a `ttlMs`.
 * - `delete` removes all there is of a conversation.
 * - `close` lets go of what the store holds; what it is asked afterwards is refused (`store_closed`).
 *
 * **Errors**: a `SessionError`, which {@link refused} makes: `store_conflict`; `unknown_chat`, `unknown_commit` and `not_a_step`
 * of a fork or a rewind to what is not there, or where a step was open; `chat_exists` of a fork; `store_closed`. A
 * `ValidationError` (`invalid_options`) for options that make no sense.
 *
 * **Source**: `Testing.sessionStoreLaws` says all of this in laws.
 */
export interface SessionStore extends Store {
  /** Milliseconds after its newest entry that a conversation is kept. `undefined`: for ever. */
  readonly ttlMs: number | undefined
  readonly save: (record: ChatRecord, precondition?: Precondition) => Answer<Saved>
  readonly history: (id: string, options?: HistoryOptions) => Answer<ReadonlyArray<Commit>>
  readonly at: (id: string, seq: number) => Answer<ChatRecord | undefined>
  readonly fork: (id: string, to: string, at?: number) => Answer<ChatRecord>
  readonly rewind: (id: string, seq: number, precondition?: Precondition) => Answer<ChatRecord>
  readonly list: (options?: ListOptions) => Answer<ChatList>
  readonly keepDraft: (id: string, text: string, after: number) => Answer<void>
  readonly expire: (isKept?: (id: string) => boolean) => Answer<number>
  readonly close: () => Answer<void>
}

/** Now, or later. */
type Answer<A> = A | Promise<A>
