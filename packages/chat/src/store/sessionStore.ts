/**
 * The ports of stores: their operations, values and errors.
 *
 * BLOB1. The bytes of a blob's id are returned unchanged. They never change: a second `put` of the id keeps the first bytes. A
 *        change of the caller's array changes nothing.
 * BLOB2. A blob alone is no conversation: it is neither listed nor loaded until it has an input or an entry. Every blob ends with
 *        its conversation: by a deletion, or when its time is over.
 * BLOB3. A fork has the blobs that its record names, independently of its origin. A rewind keeps all blobs: its log names them.
 * BLOB4. A `put` that names an epoch older than the claimed one is refused, and changes nothing. So is a `put` of anything but
 *        bytes under a text, with a `ValidationError`.
 * BLOB5. A blob that no entry and no waiting input names an hour after its last `put` is removed by the next load of the
 *        conversation: the program ended between the `put` and the message.
 */

import type { Conversation, Entry, InboxEntry } from "../record/index.ts"
import type { Commit } from "./commitLog.ts"
import type { Memory, MemoryChange } from "../compaction/index.ts"
import type { ChatList, HistoryOptions, ListOptions } from "./chatList.ts"
import type { FoundMessage, MemoryList, MemoryListOptions, RecallOptions, SearchOptions } from "./messageSearch.ts"
import type { Wait, WaitList, WaitOptions } from "./waitList.ts"

export type { ChatList, ChatSummary, HistoryOptions, ListOptions } from "./chatList.ts"

/**
 * Stores the committed state of chats.
 *
 * **Contract**: `save` has stored the record when it returns, or when its promise resolves; only then does the chat
 * continue. A record replaces the one before it. `load` returns the last saved one. A throw or a rejection means that the
 * record was not stored. After that, or after five seconds without an answer, the chat's turn ends with a `store_failed`
 * error, and the next turn saves again. A save that settles later is overwritten by the newest record stored since. Records
 * are plain data, with the waiting inputs of the chat as `inbox`.
 *
 * **Concurrency**: operations on one chat run one after another, except that none waits longer than five seconds for the
 * one before; those on different chats run at the same time. Two Troupes must not store the same chat at once, unless the
 * store keeps a log ({@link SessionStore}).
 */
export interface RecordStore {
  /** Returns the last saved record of a chat; `undefined` for an unknown id. */
  readonly load: (id: string) => Conversation | undefined | Promise<Conversation | undefined>
  /** Stores a record in place of the one before. When it has returned or resolved, the record is stored. */
  readonly save: (record: Conversation) => void | Promise<void>
  /** Removes the record of a chat. Only a store with a log gets a fence. */
  readonly delete: (id: string, fence?: Fence) => void | Promise<void>
}

/** What entries follow, and what leaves with them. */
export interface Appending {
  /**
   * The number of the entry that these follow; 0 for a new conversation. The write is refused (`store_conflict`) unless that is the
   * newest one. Without it there is no check.
   */
  readonly after?: number | undefined
  /**
   * The record of the entry `after`, as `load` or `append` returned it. Then the store does not read it again, and refuses the write
   * if the conversation was deleted meanwhile and begun again.
   */
  readonly record?: Conversation | undefined
  /**
   * The ids of the waiting inputs that the thread has from now on. They wait no longer once the entries are stored. An id that does
   * not wait is ignored.
   */
  readonly takes?: ReadonlyArray<string> | undefined
  /** Refuses the write when the claimed epoch of its key is newer. */
  readonly fence?: Fence | undefined
  /** What the entries change of the memories of a scope: in the same write, or not at all. Ignored by a store without `memories`. */
  readonly memories?: { readonly scope: string; readonly changes: ReadonlyArray<MemoryChange> } | undefined
}

/** A key and its epoch: a claim of a newer epoch of the key makes the store refuse the writes of older epochs. */
export interface Fence {
  /** Any text. */
  readonly key: string
  /** A whole number from 0. */
  readonly epoch: number
}

/**
 * The home of conversations, for programs that share a store, as those of `@troupe/cluster` do. Each conversation has at
 * most one home at a time.
 *
 * - `fenceOf`: the fence of the conversation's writes; `undefined` when this program is not its home. The epoch is claimed in
 *   the store before it is returned here
 * - `mayAct`: whether the handler of a tool may start now: this program is the home, and that was confirmed lately
 *
 * **Contract**: both are synchronous, and return at once.
 */
export interface Home {
  readonly fenceOf: (id: string) => Fence | undefined
  readonly mayAct: (id: string) => boolean
}

/**
 * The result of accepting an input: the waiting input of this id. `isNew` is false when an input of this id was waiting
 * already; then that one is returned, and nothing was written.
 */
export interface Accepted {
  readonly input: InboxEntry
  readonly isNew: boolean
}

/**
 * A store that keeps the log of each conversation: the newest record, and every earlier one.
 *
 * **Contract**: as {@link RecordStore}, with `append` in place of `save`, and
 *
 * - `accept` appends an input to the waiting inputs of a conversation. Its cost does not grow with the inputs that wait. An
 *   unknown conversation begins with it: its `seq` is 0, and it has no entry yet.
 * - `append` adds one entry of the log, which has these named entries, and returns the record that they lead to
 *   ({@link evolve}), its `version` the number of the entry. It is refused (`store_conflict`) unless `after` is the newest number.
 *   Without entries it is an entry of the log too; then no write that follows `after` takes effect any more. Without entries and
 *   without `after` it only ends the wait of the inputs `takes`. Its cost grows with the additions, not with the conversation.
 * - Only `accept` adds waiting inputs, and only `takes` ends their wait. The `inbox` of a record is no part of an entry.
 * - `load` returns the newest record, its `version` the number of its entry, and its `inbox` the waiting inputs in the order
 *   they were accepted; its `draft` is the one saved since, else the record's own. A conversation without an entry is
 *   empty, and has no `version`.
 * - `claim` claims an epoch of a key, or of each of several keys. A claim of the claimed epoch changes nothing. From then on a
 *   claim of an older epoch, and each write that names one, is refused (`store_fenced`), also for conversations without an
 *   entry. When `claim` has returned, no write of an older epoch takes effect. A write without a fence is not checked. A
 *   claim of several keys is done for all of them, or refused and done for none.
 * - `history` returns entries, the oldest first; none for an unknown conversation.
 * - `at` returns the record of an entry, its `version` that entry's number.
 * - `fork` begins a conversation with the record of another's entry, by default its newest with `isStep`, without the
 *   inputs that waited there. The two conversations are independent afterwards.
 * - `rewind` adds an entry with the record of an earlier one; entry 0 is the empty beginning. The waiting inputs stay, and the known ids of
 *   the ends of background tasks. It checks `after` and `fence` of its options.
 * - `keepDraft` stores the text of a streaming reply so far, and replaces its earlier draft; the next entry removes it. A
 *   draft is not an entry. When `after` is not the number of the newest entry, the draft is late and dropped: it may arrive
 *   while an entry is written, or after it.
 * - `expire` deletes the conversations without a new entry or input for longer than `ttlMs`, except the ids for which `isKept`
 *   returns true, and returns their number; none without a `ttlMs`.
 * - `waiting` returns what conversations wait for, as `Store.Lists.waitsOf` has it of their newest records. The waits are stored
 *   together with the entry, and the first page costs the same however many conversations there are. A wait that lasts over several entries
 *   keeps its time.
 * - `escalate` marks the oldest waits that are not marked, were asked at `askedUntil` or before and have not expired, at most `limit`, and
 *   returns them. Each wait is returned once, whatever programs call. A conversation without a process has its waits marked too.
 * - `search` returns the messages of the newest records that have a word of the query, as `Store.Lists.queryWords` gives its words, the
 *   best first. Its index, if it has one, is deleted with the conversation.
 * - `delete` removes all data of a conversation. Its memories stay: they are of their scope.
 * - `memories.change` makes changes of a scope in their order, all or none. `recall` returns memories of the scope with words of the
 *   query, the best first; `list` returns a page of them, the newest first. No call returns a memory of another scope.
 * - `secrets.save` stores a text of an owner by key, or with `undefined` deletes it; `load` returns it; `delete` deletes all texts of an
 *   owner. No other verb returns a secret, and no deletion of a conversation deletes one.
 * - `close` releases the resources of the store; later operations are refused (`store_closed`).
 *
 * **Errors**: a `SessionError`, made with {@link refused}: `store_conflict`; `store_fenced`; `unknown_chat`, `unknown_commit` and
 * `not_a_step` for a fork or a rewind to a missing entry, or to one with an open step; `chat_exists` for a fork;
 * `store_closed`. A `ValidationError` (`invalid_options`) for invalid options.
 *
 * **Source**: `Testing.sessionStoreLaws` of `@troupe/testing` tests all of this.
 */
export interface SessionStore extends Omit<RecordStore, "save"> {
  /** Milliseconds after its newest entry or input that a conversation is kept. `undefined`: no limit. */
  readonly ttlMs: number | undefined
  /** Whether programs on several machines may use the store at once, as `@troupe/cluster` does. Default: `false`. */
  readonly isShared?: boolean | undefined
  /** Adds an entry of these named entries, and returns the record after them; refused with `store_conflict` unless `after` is the newest. */
  readonly append: (id: string, entries: ReadonlyArray<Entry>, appending?: Appending) => Answer<Conversation>
  /** Appends an input to the waiting inputs of a conversation. */
  readonly accept: (id: string, input: InboxEntry, fence?: Fence) => Answer<Accepted>
  /** Claims an epoch of a key, or of each of several keys; older epochs are refused from then on (`store_fenced`). */
  readonly claim: (key: string | ReadonlyArray<string>, epoch: number) => Answer<void>
  /** Returns entries, the oldest first; none for an unknown conversation. */
  readonly history: (id: string, options?: HistoryOptions) => Answer<ReadonlyArray<Commit>>
  /** Returns the record of an entry; `undefined` for an unknown one. */
  readonly at: (id: string, seq: number) => Answer<Conversation | undefined>
  /** Begins the conversation `to` with the record of another's entry. Default of `at`: its newest with `isStep`. */
  readonly fork: (id: string, to: string, at?: number, fence?: Fence) => Answer<Conversation>
  /** Adds an entry with the record of an earlier one; entry 0 is the empty beginning. */
  readonly rewind: (id: string, seq: number, appending?: Pick<Appending, "after" | "fence">) => Answer<Conversation>
  /** Returns a page of conversations, last written first. */
  readonly list: (options?: ListOptions) => Answer<ChatList>
  /** A store without it has no list of waits: `troupe.waiting` rejects with `store_without_waiting`. */
  readonly waiting?: (options?: WaitOptions) => Answer<WaitList>
  /** A store without it escalates no wait. */
  readonly escalate?: (askedUntil: number, limit: number) => Answer<ReadonlyArray<Wait>>
  /** The messages with words of the query, the best first. A store without it is searched conversation by conversation. */
  readonly search?: (options: SearchOptions) => Answer<ReadonlyArray<FoundMessage>>
  /** The bytes of images and files. A store without it keeps them in the messages. */
  readonly blobs?:
    | {
        readonly put: (chat: string, id: string, bytes: Uint8Array, fence?: Fence) => Answer<void>
        readonly get: (chat: string, id: string) => Answer<Uint8Array | undefined>
        readonly size: (prefix: string) => Answer<number>
      }
    | undefined
  /** The memories of each scope. A store without them has no tools of memories. */
  readonly memories?:
    | {
        readonly change: (scope: string, changes: ReadonlyArray<MemoryChange>) => Answer<void>
        readonly recall: (scope: string, options: RecallOptions) => Answer<ReadonlyArray<Memory>>
        readonly list: (scope: string, options?: MemoryListOptions) => Answer<MemoryList>
      }
    | undefined
  /** Texts of each owner by key, such as the tokens of a sign-in. A store without them cannot keep tokens of MCP servers. */
  readonly secrets?:
    | {
        readonly load: (owner: string, key: string) => Answer<string | undefined>
        readonly save: (owner: string, key: string, text: string | undefined) => Answer<void>
        readonly delete: (owner: string) => Answer<void>
      }
    | undefined
  /** Stores the text of a streaming reply so far; a draft that is late is dropped. */
  readonly keepDraft: (id: string, text: string, after: number, fence?: Fence) => Answer<void>
  /** Deletes the conversations without a new entry or input for longer than `ttlMs`, and returns their number. */
  readonly expire: (isKept?: (id: string) => boolean) => Answer<number>
  /** Releases the resources of the store; later operations are refused (`store_closed`). */
  readonly close: () => Answer<void>
}

/** A store of chats: one that keeps the newest record of each, or one that keeps the log of each. */
export type Store = RecordStore | SessionStore

/** A value, or a promise of it. */
export type Answer<A> = A | Promise<A>
