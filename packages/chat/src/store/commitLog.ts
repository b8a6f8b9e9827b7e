/**
 * The log of a conversation: what named entries add to it, and the record of a list of them.
 *
 * LOG1. The record of an entry is the saved record without its `inbox`, and its `version` is the entry's number.
 * LOG2. An entry of the log holds what its named entries add: the messages and known ids before the first change are left out. A
 *       store compares no records.
 */
import * as z from "zod"
import {
  type Conversation,
  Entry,
  evolve,
  type InboxEntry,
  keptBy,
  saved,
  savedSchema,
  sharedPrefix,
  tasksAfterRewind
} from "../record/index.ts"
import type { Message } from "../model/index.ts"
import * as Threads from "../model/Thread.ts"
import * as Usage from "../model/Usage.ts"

const place = z.number().int().nonnegative()

const commitSchema = z.lazy(() =>
  savedSchema
    .unwrap()
    .unwrap()
    .omit({ type: true })
    .extend({
      seq: place,
      at: z.number(),
      kind: z.enum(["saved", "forked", "rewound"]),
      from: z.object({ id: z.string(), seq: place }).readonly().optional(),
      isStep: z.boolean(),
      entries: z.array(Entry).readonly().optional()
    })
    .readonly()
)

/**
 * One committed entry of a conversation's log. Entries are added, never changed.
 *
 * **Details**
 *
 * - `seq`: 1 for the first of a conversation, then one more each time
 * - `kind`: `saved` by its chat, `forked` from another conversation, `rewound` to an earlier entry of its own
 * - `from`: the entry it was forked from, or rewound to
 * - `kept`: how many messages of the entry before stay
 * - `messages`: the messages added after them
 * - `known`: the same for the record's `known`, if it has some
 * - `metadata`, `compaction`: those of the thread
 * - `state`: the rest of the record
 * - `isStep`: whether a fork or a rewind to this entry is allowed: no step was open
 * - `entries`: what happened, by name; one `Saved` for an entry of an earlier version. A client does not get them
 *
 * **Units and defaults**: `at` is in milliseconds since the epoch.
 */
export interface Commit extends z.infer<typeof commitSchema> {}
export const Commit: z.ZodType<Commit> = commitSchema

/** What entries make of a record, and the entry of the log. The record has no number yet. */
interface Changed {
  readonly record: Conversation
  readonly change: Omit<Commit, "seq" | "at" | "kind" | "from">
}

/**
 * Applies entries to a record: the record after them, and what the log has of them.
 *
 * @example
 * ```ts import.meta.vitest
 * import { user } from "@troupe/chat"
 * import { Store } from "@troupe/chat/store"
 *
 * const begun = Store.commitOf(Store.blank("a"), [{ type: "InputTaken", messages: [user("Hello")], inputs: ["i1"] }])
 * begun.record.thread.messages // => [user("Hello")]
 *
 * const { change } = Store.commitOf(begun.record, [{ type: "MessagesAdded", messages: [user("Again")] }])
 * change.kept // => 1
 * change.messages // => [user("Again")]
 * ```
 */
export const commitOf = (before: Conversation, entries: ReadonlyArray<Entry>): Changed => {
  let record = before
  let kept = before.thread.messages.length
  let knownKept = before.known?.length ?? 0
  for (const entry of entries) {
    kept = Math.min(kept, keptBy(record, entry))
    if (entry.type === "Saved") knownKept = Math.min(knownKept, entry.known?.kept ?? 0)
    record = evolve(record, entry)
  }
  const { id: _, thread, version: __, known, inbox: ___, ...state } = record
  const { messages, metadata, compaction } = thread
  const isStep = record.open === undefined
  const change = { kept, messages: kept === 0 ? messages : messages.slice(kept), state, isStep, entries }
  if (known === undefined && metadata === undefined && compaction === undefined) return { record, change }
  return {
    record,
    change: {
      ...change,
      ...(known !== undefined && { known: { kept: knownKept, added: known.slice(knownKept) } }),
      ...(metadata !== undefined && { metadata }),
      ...(compaction !== undefined && { compaction })
    }
  }
}

/** The entry of a record that takes the place of another one: messages of equal value stay. */
export const replacing = (before: Conversation, record: Conversation): Entry =>
  saved(record, {
    messages: sharedPrefix(before.thread.messages, record.thread.messages),
    known: sharedPrefix(before.known ?? none, record.known ?? none)
  })

const none: ReadonlyArray<never> = []

/**
 * The record of an entry, from the entries up to it, newest first.
 *
 * **Details**: reads no more entries than it needs, so they can be loaded lazily. `version` of the record is the number of
 * its entry.
 *
 * **Errors**: throws a `RangeError` when there are too few.
 *
 * @example
 * ```ts import.meta.vitest
 * import { user } from "@troupe/chat"
 * import { Thread, Usage } from "@troupe/chat/messages"
 * import { Store } from "@troupe/chat/store"
 *
 * const record = { id: "a", thread: Thread.from([user("Hello")]), usage: Usage.empty, running: false, pendingToolCalls: [] }
 * const { change } = Store.commitOf(Store.blank("a"), [Store.saved(record)])
 * const commit: Store.Commit = { seq: 1, at: 0, kind: "saved", ...change }
 *
 * Store.recordOf("a", [commit]) // => { ...record, version: 1 }
 * ```
 */
export const recordOf = (id: string, newestFirst: Iterable<Commit>): Conversation => {
  let newest: Commit | undefined
  let messages: Backwards<Message> | undefined
  let known: Backwards<string> | undefined
  for (const commit of newestFirst) {
    newest ??= commit
    messages = further(messages, commit.kept, commit.messages)
    // An entry without known ids keeps none of the earlier ones.
    known = further(known, commit.known?.kept ?? 0, commit.known?.added ?? none)
    if (messages.missing === 0 && known.missing === 0) break
  }
  if (newest === undefined || messages === undefined || known === undefined) throw tooFew(id)
  if (messages.missing > 0 || known.missing > 0) throw tooFew(id)
  const { state, metadata, compaction } = newest
  const list = inOrder(messages)
  return {
    id,
    thread: {
      messages: list,
      ...(metadata !== undefined && { metadata }),
      ...(compaction !== undefined && { compaction })
    },
    ...state,
    ...(newest.known !== undefined && { known: inOrder(known) }),
    version: newest.seq
  }
}

/** A list that is read from its end: the parts found so far, the last part first, and how many elements come before. */
interface Backwards<A> {
  readonly parts: Array<ReadonlyArray<A>>
  readonly missing: number
}

const further = <A>(list: Backwards<A> | undefined, kept: number, added: ReadonlyArray<A>): Backwards<A> => {
  if (list === undefined) return { parts: [added], missing: kept }
  if (list.missing <= kept) return list
  list.parts.push(added.slice(0, list.missing - kept))
  return { parts: list.parts, missing: kept }
}

const inOrder = <A>({ parts }: Backwards<A>): ReadonlyArray<A> => parts.toReversed().flat()

const tooFew = (id: string): RangeError =>
  new RangeError(`The entries of the chat ${id} do not reach back to all of its messages: give those before them too`)

/** The record of an empty conversation, to which a rewind to entry 0 leads. */
export const blank = (id: string): Conversation => ({
  id,
  thread: Threads.empty,
  usage: Usage.empty,
  running: false,
  pendingToolCalls: none
})

/**
 * The first record of a fork, or the record after a rewind: the earlier record under this id, without waiting inputs.
 *
 * **Details**: `permissionMode` is that of `now`, the newest record, so that neither can leave a stricter mode. The agent is that of
 * the earlier record; an empty conversation keeps the agent of `now`. The fork of a child has no parent. A fork has no background tasks.
 * After a rewind a task whose end `now` knows is over.
 */
export const forked = (
  record: Conversation,
  id: string,
  now: Pick<Conversation, "permissionMode" | "agent" | "known" | "tasks">
): Conversation => {
  const { permissionMode, agent } = now
  const { inbox: _, version: __, permissionMode: ___, tasks: ____, children, parent, ...other } = record
  const isRewind = id === record.id
  const earlier = {
    ...other,
    ...(parent === undefined || !isRewind ? {} : { parent }),
    ...(children === undefined || !isRewind ? {} : { children }),
    ...(isRewind ? tasksAfterRewind(record, now) : {})
  }
  const isOfNone = record.agent === undefined && record.thread.messages.length === 0
  const kept = isOfNone && agent !== undefined ? { ...earlier, agent } : earlier
  return permissionMode === undefined ? { ...kept, id } : { ...kept, id, permissionMode }
}

/** The record of an entry with the inputs that wait now. */
export const withInbox = (record: Conversation, waiting: ReadonlyArray<InboxEntry>): Conversation => {
  if (waiting.length > 0) return { ...record, inbox: waiting }
  const { inbox: _, ...rest } = record
  return rest
}
