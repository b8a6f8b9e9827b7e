/**
 * The calls of a store, as plain values, how they are performed, and what restores the last requested state after a late write. A store with
 * a log refuses late entries that follow a record which is no longer the newest; before that they are stored, and take the rows of their inputs.
 *
 * Owns: for each chat with a late write, how many there are, and the writes stored since. Does not own the operations (`storeServer.ts`).
 *
 * STORE7. When the store keeps a log, a write of a chat names the entry it follows, so that it never overwrites an entry of another
 *         program.
 * LATE1. The rows of the inputs taken meanwhile are removed again, so that a late `accept` of such an input leaves nothing behind. A
 *        store without a log then has the newest record again. An input whose late `accept` was asked for after it was taken keeps its
 *        row: its chat has put it back.
 * LATE2. After a late delete the newest record stored meanwhile is stored again. After any late write, which may have taken its row, an
 *        input that was accepted meanwhile and not taken is accepted again. An input that was taken, or may have been, is never accepted
 *        again.
 * STORE4. When a late write settles, LATE1 and LATE2 restore what was stored meanwhile: in the end the store has the last requested
 *         state.
 */
import { OtpError } from "@troupe/otp"
import type { Conversation, Entry, InboxEntry } from "../record/index.ts"
import type { Commit } from "./Store.ts"
import { refused, SessionError } from "../errors/index.ts"
import type {
  Accepted,
  Appending,
  ChatList,
  Fence,
  HistoryOptions,
  Home,
  ListOptions,
  SessionStore
} from "./sessionStore.ts"
import type { Memory, MemoryChange } from "../compaction/index.ts"
import {
  type FoundMessage,
  type MemoryList,
  type MemoryListOptions,
  type RecallOptions,
  type SearchOptions,
  bestOf,
  rankedMessages,
  searchOptions
} from "./messageSearch.ts"
import type { Wait, WaitList, WaitOptions } from "./waitList.ts"
import { saved } from "../record/index.ts"

export type StoreCall =
  | { readonly type: "load"; readonly id: string }
  | AppendCall
  | AcceptCall
  | { readonly type: "delete"; readonly id: string; readonly fence?: Fence | undefined }
  | PutBlobCall
  | { readonly type: "readBlob"; readonly id: string; readonly blob: string }
  | { readonly type: "sizeOfBlobs"; readonly prefix: string }
  /** Is answered when the store has the drafts of the chat that were requested before, or has failed to store them. */
  | { readonly type: "drafted"; readonly id: string }
  /** Is answered with the ids with this prefix whose operations the store has not finished: a list may not have them yet. */
  | { readonly type: "underWay"; readonly prefix: string }
  | LogCall

/** Writes entries. */
interface AppendCall extends Appending {
  readonly type: "append"
  readonly id: string
  readonly entries: ReadonlyArray<Entry>
}

/** Appends an input to the waiting inputs. */
export interface AcceptCall {
  readonly type: "accept"
  readonly id: string
  readonly input: InboxEntry
  readonly fence?: Fence | undefined
}

/** Stores the bytes of a blob. */
interface PutBlobCall {
  readonly type: "putBlob"
  readonly id: string
  readonly blob: string
  readonly bytes: Uint8Array
  readonly fence: Fence | undefined
}

/** A call that only a store with a log supports. */
type LogCall =
  | { readonly type: "history"; readonly id: string; readonly options: HistoryOptions | undefined }
  | { readonly type: "at"; readonly id: string; readonly seq: number }
  | ForkCall
  | { readonly type: "rewind"; readonly id: string; readonly seq: number; readonly fence?: Fence | undefined }
  | { readonly type: "list"; readonly options: ListOptions | undefined }
  | { readonly type: "waiting"; readonly options: WaitOptions | undefined }
  | { readonly type: "escalate"; readonly askedUntil: number; readonly limit: number }
  | { readonly type: "search"; readonly options: SearchOptions }
  | { readonly type: "changeMemories"; readonly scope: string; readonly changes: ReadonlyArray<MemoryChange> }
  | { readonly type: "recall"; readonly scope: string; readonly options: RecallOptions }
  | { readonly type: "listMemories"; readonly scope: string; readonly options: MemoryListOptions | undefined }

/** The fence is that of the new conversation. */
interface ForkCall {
  readonly type: "fork"
  readonly id: string
  readonly to: string
  readonly at: number | undefined
  readonly fence: Fence | undefined
}

/**
 * The fence of a write that is requested now; `undefined` without a home. Throws a `SessionError` (`store_fenced`) when this
 * program is not the home of the conversation.
 */
export const fenceOf = (home: Home | undefined, id: string): Fence | undefined => {
  const fence = home?.fenceOf(id)
  if (home === undefined || fence !== undefined) return fence
  const message = `This program is not the home of the chat ${id}, and may not write it; ask its home`
  throw new SessionError("store_fenced", message, { metadata: { id } })
}

/** The result of each call. */
export interface StoreValues {
  readonly load: Conversation | undefined
  readonly append: Conversation
  readonly accept: Accepted
  readonly delete: undefined
  readonly putBlob: undefined
  readonly readBlob: Uint8Array | undefined
  readonly sizeOfBlobs: number | undefined
  readonly drafted: undefined
  readonly underWay: ReadonlyArray<string>
  readonly history: ReadonlyArray<Commit>
  readonly at: Conversation | undefined
  readonly fork: Conversation
  readonly rewind: Conversation
  readonly list: ChatList
  readonly waiting: WaitList
  readonly escalate: ReadonlyArray<Wait>
  readonly search: ReadonlyArray<FoundMessage>
  readonly changeMemories: undefined
  readonly recall: ReadonlyArray<Memory>
  readonly listMemories: MemoryList
}

/** A store, as it is called. */
export interface Asked {
  readonly store: Pick<SessionStore, "load" | "append" | "accept" | "delete">
  /** The store, if it keeps a log. */
  readonly log: SessionStore | undefined
}

/** The id for calls on all conversations. */
export const ofAll = ""

/** The chat of a call. */
export const idOf = (call: StoreCall): string => {
  switch (call.type) {
    case "underWay":
    case "sizeOfBlobs":
    case "list":
    case "waiting":
    case "escalate":
    case "search":
    case "changeMemories":
    case "recall":
    case "listMemories":
      return ofAll
    default:
      return call.id
  }
}

/** Whether the call changes its chat, so that it takes effect even when it settles late (STORE4). */
export const isWrite = ({ type }: StoreCall): boolean =>
  type === "append" || type === "accept" || type === "putBlob" || type === "delete" || type === "rewind"

/** Whether a call timed out, the process of the store died, or the error says so: the store may have done the write, or may still do it. */
export const isUnanswered = (cause: unknown): boolean =>
  cause instanceof OtpError.CallExit || (cause instanceof SessionError && cause.metadata["outcome"] === "unknown")

/** Calls the store: `log` is the store, if it keeps a log. */
export const perform = (
  { store, log }: Asked,
  call: Exclude<StoreCall, { readonly type: "drafted" | "underWay" }>
): unknown => {
  switch (call.type) {
    case "load":
      return store.load(call.id)
    case "append":
      return store.append(call.id, call.entries, call)
    case "accept":
      return store.accept(call.id, call.input, call.fence)
    case "delete":
      return log === undefined ? store.delete(call.id) : log.delete(call.id, call.fence)
    case "putBlob":
      return log?.blobs?.put(call.id, call.blob, call.bytes, call.fence)
    case "readBlob":
      return log?.blobs?.get(call.id, call.blob)
    case "sizeOfBlobs":
      return log?.blobs?.size(call.prefix)
    default:
      if (log === undefined) throw refused("store_without_log", idOf(call))
      return performLog(log, call)
  }
}

const performLog = (store: SessionStore, call: LogCall): unknown => {
  switch (call.type) {
    case "history":
      return store.history(call.id, call.options)
    case "at":
      return store.at(call.id, call.seq)
    case "fork":
      return store.fork(call.id, call.to, call.at, call.fence)
    case "rewind":
      return store.rewind(call.id, call.seq, call.fence === undefined ? undefined : { fence: call.fence })
    case "list":
      return store.list(call.options)
    case "waiting":
      if (store.waiting === undefined) throw refused("store_without_waiting", ofAll)
      return store.waiting(call.options)
    case "escalate":
      return store.escalate?.(call.askedUntil, call.limit) ?? []
    case "search":
      return store.search?.(call.options) ?? searchEach(store, searchOptions(call.options))
    case "changeMemories":
      return memoriesOf(store).change(call.scope, call.changes)
    case "recall":
      return memoriesOf(store).recall(call.scope, call.options)
    case "listMemories":
      return memoriesOf(store).list(call.scope, call.options)
  }
}

const memoriesOf = ({ memories }: SessionStore): NonNullable<SessionStore["memories"]> => {
  if (memories === undefined) throw refused("store_without_memories", ofAll)
  return memories
}

/** Searches the conversations one after another, for a store without a search. */
const searchEach = async (
  store: SessionStore,
  { query, chat, prefix, limit }: ReturnType<typeof searchOptions>
): Promise<ReadonlyArray<FoundMessage>> => {
  const found: Array<ReturnType<typeof rankedMessages>[number]> = []
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page: ChatList | undefined = chat === undefined ? await store.list({ prefix, after, limit: 50 }) : undefined
    for (const id of page?.chats.map(({ id: one }) => one) ?? [chat ?? ""]) {
      const record = await store.load(id)
      found.push(...rankedMessages(id, record?.thread.messages ?? [], query, limit))
    }
    after = page?.next
  }
  return bestOf(found, limit)
}

/** What was asked for last about the row of an input, and the place of that call among those of the chat. */
interface RowWrite {
  readonly order: number
  readonly write: AcceptCall | "taken" | "unknown"
}

/** The late writes of a chat, and what was stored since. */
export interface Late {
  count: number
  type: StoreCall["type"]
  newest: StoreCall | undefined
  readonly rows: Map<string, RowWrite>
}

export class LateWrites {
  readonly #chats = new Map<string, Late>()
  /** How many calls began; the number of a call is its order. */
  begins = 0

  /** The chats with a late write. */
  get ids(): Iterable<string> {
    return this.#chats.keys()
  }

  /** Notes that a write of the chat is late. */
  begun(call: StoreCall, order: number): Late {
    const id = idOf(call)
    const late = this.#chats.get(id) ?? { count: 0, type: call.type, newest: undefined, rows: new Map() }
    late.count += 1
    if (call.type === "delete" || late.type !== "delete") late.type = call.type
    if (call.type === "accept") note(late, call.input.id, { order, write: "unknown" })
    this.#chats.set(id, late)
    return late
  }

  /** Notes that a late write of the chat has settled; returns the calls to repeat. */
  settled(id: string, late: Late): ReadonlyArray<StoreCall> {
    late.count -= 1
    if (late.count === 0) this.#chats.delete(id)
    return repeated(id, late)
  }

  /** Notes a stored write and its value, which is newer than the late ones of its chat. */
  stored(call: StoreCall, value: unknown, order: number): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late === undefined) return
    if (call.type === "accept") note(late, call.input.id, { order, write: call })
    else if (call.type === "append") {
      const record = value as Conversation | undefined
      if (record?.thread !== undefined) late.newest = { ...call, entries: [saved(record)], ...unconditional }
      for (const id of call.takes ?? []) note(late, id, { order, write: "taken" })
    } else if (call.type === "delete") {
      late.newest = call
      late.rows.clear()
    } else if (call.type === "rewind") late.newest = undefined
  }

  /** Notes a write that was answered with an error: the store may have done it, so that the rows of its inputs are not stored again. */
  failed(call: StoreCall, order: number): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late !== undefined && call.type === "append")
      for (const id of call.takes ?? []) note(late, id, { order, write: "unknown" })
  }
}

const note = ({ rows }: Late, id: string, row: RowWrite): void => {
  const before = rows.get(id)
  if (before === undefined || before.order < row.order) rows.set(id, row)
}

const unconditional = { after: undefined, record: undefined, takes: undefined }

/** LATE1, LATE2 */
const repeated = (id: string, { newest, type, rows }: Late): ReadonlyArray<StoreCall> => {
  const taken = Array.from(rows).flatMap(([input, { write }]) => (write === "taken" ? [input] : []))
  const accepted = Array.from(rows.values()).flatMap(({ write }) => (typeof write === "object" ? [write] : []))
  const isWhole = newest !== undefined && (type === "delete" || newest.type === "delete")
  const isNeeded = taken.length > 0 || (type === "append" && newest !== undefined)
  const takes: StoreCall = { type: "append", id, entries: [], takes: taken }
  return [...(isWhole ? [newest] : isNeeded ? [takes] : []), ...accepted]
}
