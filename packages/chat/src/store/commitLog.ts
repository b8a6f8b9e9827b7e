/**
 * The log of a conversation: what an entry adds to the one before it, and the record that entries make.
 *
 * LOG1. The record of an entry is the record that was saved, but for its `version`, which is the entry's number.
 * LOG2. An entry holds what was added: the messages and the known ids that stand where they stood before are not in it.
 *       Those that are the same objects cost a comparison; equal ones are the same.
 */
import * as Equal from "effect/Equal"
import * as z from "zod"
import { ChatRecord } from "../record/index.ts"
import { Message } from "../model/index.ts"
import * as Threads from "../model/Thread.ts"
import * as Usage from "../model/Usage.ts"

const place = z.number().int().nonnegative()

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
 * - `known`: the same of the record's `known`, where it has some
 * - `metadata`: that of the thread
 * - `state`: all else of the record
 * - `isStep`: whether a fork or a rewind may lead here: no step was open
 *
 * **Units and defaults**: `at` is in milliseconds since the epoch.
 */
export const Commit = z
  .object({
    seq: place,
    at: z.number(),
    kind: z.enum(["saved", "forked", "rewound"]),
    from: z.object({ id: z.string(), seq: place }).readonly().optional(),
    kept: place,
    messages: z.array(Message).readonly(),
    known: z
      .object({ kept: place, added: z.array(z.string()).readonly() })
      .readonly()
      .optional(),
    metadata: Threads.Thread.unwrap().shape.metadata,
    state: ChatRecord.unwrap().omit({ id: true, thread: true, version: true, known: true }).readonly(),
    isStep: z.boolean()
  })
  .readonly()
export type Commit = z.infer<typeof Commit>

/** What an entry holds of its record. */
export type Change = Omit<Commit, "seq" | "at" | "kind" | "from">

/**
 * What a record adds to the one before it; all of it, where there is none.
 *
 * **Details**: a message that is the same object as before costs a comparison of two references, and is not looked into.
 *
 * @example
 * ```ts import.meta.vitest
 * import { user } from "@troupe/chat"
 * import { Thread, Usage } from "@troupe/chat/messages"
 * import { Store } from "@troupe/chat/store"
 *
 * const thread = Thread.fromMessages([user("Hello")])
 * const before = { id: "a", thread, usage: Usage.empty, running: true, pendingToolCalls: [] }
 * const after = { ...before, thread: Thread.append(thread, user("Again")) }
 *
 * const change = Store.commitOf(before, after)
 * change.kept // => 1
 * change.messages // => [user("Again")]
 * ```
 */
export const commitOf = (before: ChatRecord | undefined, record: ChatRecord): Change => {
  const { id: _, thread, version: __, known, ...state } = record
  const { messages, metadata } = thread
  const kept = sharedPrefix(before?.thread.messages ?? none, messages)
  const isStep = record.open === undefined
  const change = { kept, messages: kept === 0 ? messages : messages.slice(kept), state, isStep }
  if (known === undefined && metadata === undefined) return change
  return {
    ...change,
    ...(known === undefined ? {} : { known: knownOf(before?.known ?? none, known) }),
    ...(metadata === undefined ? {} : { metadata })
  }
}

const none: ReadonlyArray<never> = []

const knownOf = (before: ReadonlyArray<string>, known: ReadonlyArray<string>) => {
  const kept = sharedPrefix(before, known)
  return { kept, added: known.slice(kept) }
}

/** How many elements two lists begin with alike (LOG2). */
const sharedPrefix = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): number => {
  if (before === after) return after.length
  const most = Math.min(before.length, after.length)
  let kept = 0
  while (kept < most && isSame(before[kept], after[kept])) kept++
  return kept
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === "object" && Equal.equals(one, other))

/**
 * The record of an entry, from the entries up to it, the newest first.
 *
 * **Details**: takes no more of them than it needs, so they can be read as they are asked for. `version` of the record is
 * the number of its entry.
 *
 * **Errors**: throws a `RangeError` when there are too few.
 *
 * @example
 * ```ts import.meta.vitest
 * import { user } from "@troupe/chat"
 * import { Thread, Usage } from "@troupe/chat/messages"
 * import { Store } from "@troupe/chat/store"
 *
 * const record = { id: "a", thread: Thread.fromMessages([user("Hello")]), usage: Usage.empty, running: false, pendingToolCalls: [] }
 * const commit: Store.Commit = { seq: 1, at: 0, kind: "saved", ...Store.commitOf(undefined, record) }
 *
 * Store.recordOf("a", [commit]) // => { ...record, version: 1 }
 * ```
 */
export const recordOf = (id: string, newestFirst: Iterable<Commit>): ChatRecord => {
  let newest: Commit | undefined
  let messages: Backwards<Message> | undefined
  let known: Backwards<string> | undefined
  for (const commit of newestFirst) {
    newest ??= commit
    messages = further(messages, commit.kept, commit.messages)
    // One without known ids keeps none of them.
    known = further(known, commit.known?.kept ?? 0, commit.known?.added ?? none)
    if (messages.missing === 0 && known.missing === 0) break
  }
  if (newest === undefined || messages === undefined || known === undefined) throw tooFew(id)
  if (messages.missing > 0 || known.missing > 0) throw tooFew(id)
  const { state, metadata } = newest
  const list = inOrder(messages)
  return {
    id,
    thread: metadata === undefined ? { messages: list } : { messages: list, metadata },
    ...state,
    ...(newest.known === undefined ? {} : { known: inOrder(known) }),
    version: newest.seq
  }
}

/** A list that is read from its end: the parts found so far, the last of the list first, and how many elements stand before. */
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

/** What a conversation is before anything was said: where a rewind to the entry 0 leads. */
export const blank = (id: string): ChatRecord => ({
  id,
  thread: Threads.empty,
  usage: Usage.empty,
  running: false,
  pendingToolCalls: none
})

/**
 * What a fork begins with: the record, as that of another conversation, without the inputs that waited in it.
 *
 * **Details**: `permissionMode` is that of `now`, the newest record: nobody leaves a stricter mode by a fork.
 */
export const forked = (
  record: ChatRecord,
  id: string,
  now: Pick<ChatRecord, "permissionMode"> = record
): ChatRecord => ({ ...goingOn(record, now), id })

/**
 * What a rewind leads to: the earlier record, with what stays as it is now.
 *
 * **Details**: the inputs that wait were accepted, and are not lost; nobody leaves a stricter `permissionMode` by a rewind.
 */
export const rewound = (now: ChatRecord, earlier: ChatRecord): ChatRecord =>
  now.inbox === undefined ? goingOn(earlier, now) : { ...goingOn(earlier, now), inbox: now.inbox }

const goingOn = (record: ChatRecord, { permissionMode }: Pick<ChatRecord, "permissionMode">): ChatRecord => {
  const { inbox: _, version: __, permissionMode: ___, ...kept } = record
  return permissionMode === undefined ? kept : { ...kept, permissionMode }
}
