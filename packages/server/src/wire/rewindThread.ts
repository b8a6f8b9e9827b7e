/**
 * Rewinds a conversation to a place in its thread, for clients that edit an earlier message.
 *
 * REWIND1. The remaining messages do not change: the target entry has them as they are now.
 * REWIND2. Nothing is lost: the log keeps the replaced entries. A refused rewind changes nothing.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import { HttpError } from "../errors/index.ts"
import { check } from "../access/index.ts"
import type { Call } from "../http/index.ts"
import { isRunning, isSaid, isUnsaid, messageName } from "./chatReply.ts"

/**
 * The number of messages of a thread that stay: at least, and at most. Messages that no person sent stay or go with their
 * neighbour.
 */
export interface Place {
  readonly from: number
  readonly to: number
}

type Messages = ReadonlyArray<Message.Message>

/** The place before a message. */
export const before = (messages: Messages, at: number): Place => {
  let from = at
  for (let one = messages[at - 1]; one !== undefined && isUnsaid(one); one = messages[from - 1]) from -= 1
  return { from, to: at }
}

/** The place after a message. */
export const behind = (messages: Messages, at: number): Place => {
  let to = at + 1
  for (let one = messages[to]; one !== undefined && isUnsaid(one); one = messages[to]) to += 1
  return { from: at + 1, to }
}

/**
 * The place where the history that a client posted ends, when the thread goes on there: its client removed the messages
 * behind. `undefined` when the newest message of a person is in that history.
 */
export const endOfHistory = (messages: Messages, posted: ReadonlyArray<string>): Place | undefined => {
  const known = new Set(posted)
  const said = messages.flatMap((message, index) =>
    isSaid(message) ? [[index, messageName(message, index)] as const] : []
  )
  const next = said[said.findLastIndex(([, name]) => known.has(name)) + 1]
  return next === undefined ? undefined : before(messages, next[0])
}

/** The fields of an entry that are read. */
type Entry = Pick<Store.Commit, "seq" | "kind" | "from" | "kept" | "isStep"> & { readonly length: number }

export const entryOf = ({ seq, kind, from, kept, isStep, messages }: Store.Commit): Entry => ({
  seq,
  kind,
  from,
  kept,
  isStep,
  length: kept + messages.length
})

/**
 * The newest entry without an open step that the present thread came from, and that ends at the place (REWIND1). 0 is the
 * beginning. `entries` are all entries, by their numbers from 1 on. After a rewind entry the search continues at the entry
 * it led to.
 */
export const entryAt = (entries: ReadonlyArray<Entry>, { from, to }: Place): number | undefined => {
  let shared = Number.POSITIVE_INFINITY
  for (let entry = entries.at(-1); entry !== undefined && shared >= from;) {
    const { seq, length } = entry
    if (entry.isStep && length >= from && length <= to && length <= shared) return seq
    const ledTo = entry.kind === "rewound" ? entry.from?.seq : undefined
    if (ledTo === undefined) shared = Math.min(shared, entry.kept)
    entry = entries[(ledTo ?? seq - 1) - 1]
  }
  return from === 0 ? 0 : undefined
}

const pageSize = 500

const entriesOf = async (troupe: Call["troupe"], inner: string): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  for (;;) {
    const page = await troupe.history(inner, { after: entries.length, limit: pageSize })
    for (const commit of page) entries.push(entryOf(commit))
    if (page.length < pageSize) return entries
  }
}

/**
 * Starts another conversation from a place of this one's thread, which does not change. Throws an `HttpError` when the
 * owner may not (403), when no entry leads there (409), and when there is no log (501).
 */
export const forkedAt = async ({ troupe, chats, may }: Call, id: string, place: Place): Promise<LocalChatRef> => {
  check(may, "rewind")
  const inner = chats.innerId(id)
  const at = entryAt(await entriesOf(troupe, inner), place)
  if (at === undefined) throw noEntry()
  return chats.forked(inner, { at })
}

/**
 * Rewinds a conversation to a place of its thread, and returns the continued conversation. Throws an `HttpError` when the
 * owner may not (403), when inputs wait, a turn runs that may not be cancelled, or no entry leads there (409), and when
 * there is no log (501).
 */
export const rewound = async (
  call: Call,
  id: string,
  context: ChatSnapshot["context"],
  place: Place,
  mayCancel: boolean
): Promise<LocalChatRef> => {
  check(call.may, "rewind")
  if (context.inbox.length > 0) throw new HttpError("busy", "Messages wait for their answer; wait for it first")
  if (!mayCancel && isRunning(context)) throw new HttpError("busy", "A turn runs in this conversation; wait for it")
  const inner = call.chats.innerId(id)
  const seq = entryAt(await entriesOf(call.troupe, inner), place)
  if (seq === undefined) throw noEntry()
  await call.troupe.rewind(inner, seq, { cancel: mayCancel })
  return call.chats.existing(id)
}

const noEntry = (): HttpError =>
  new HttpError(
    "not_a_step",
    "No entry of the conversation's log ends there; fork or rewind it to one that its history lists"
  )
