/**
 * The named entries of a conversation, and the one function that applies them to its record.
 *
 * EVOLVE1. `evolve` is pure and total: an entry that does not fit the record changes nothing, and no entry throws.
 * EVOLVE2. The record of a conversation is the fold of its entries, at every prefix of them.
 * EVOLVE3. A stored entry keeps its meaning. Another meaning is another type.
 */
import * as z from "zod"
import { BackgroundTask, withTask } from "./BackgroundTask.ts"
import { Chain } from "./Chain.ts"
import { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import { AgentRef } from "./Child.ts"
import { type Conversation, conversationSchema, OpenCall, type OpenStep } from "./Conversation.ts"
import { extended } from "../json/index.ts"
import { Compaction, Message, type Thread, ToolCall, ToolMessage, Usage } from "../model/index.ts"
import { ModeStanding } from "./PermissionMode.ts"
import { openRecord } from "../values/index.ts"
import { StepHalt } from "./StepResult.ts"

const place = z.number().int().nonnegative()
const ids = z.array(z.string()).readonly()

/** Messages in place of those from `at` on; without `at` they follow the last message. */
const placed = { at: place.optional(), messages: z.array(Message).readonly() }

/** A record as the entry before and these changes give it. */
export const savedSchema = z.lazy(() =>
  z
    .object({
      type: z.literal("Saved"),
      kept: place,
      messages: z.array(Message).readonly(),
      known: z.object({ kept: place, added: ids }).readonly().optional(),
      metadata: openRecord.optional(),
      compaction: Compaction.optional(),
      state: conversationSchema
        .unwrap()
        .unwrap()
        .omit({ id: true, thread: true, version: true, known: true })
        .readonly()
    })
    .readonly()
)

const entrySchema = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("InputTaken"), ...placed, inputs: ids, known: ids.optional() }).readonly(),
    z.object({ type: z.literal("TurnContinued") }).readonly(),
    z
      .object({
        type: z.literal("Replied"),
        ...placed,
        step: z
          .object({ id: z.string().optional(), agent: z.string().optional(), manual: z.array(place).readonly() })
          .readonly()
          .optional()
      })
      .readonly(),
    z
      .object({
        type: z.literal("CallsIntended"),
        calls: z.array(z.object({ call: place, arguments: openRecord.optional() }).readonly()).readonly()
      })
      .readonly(),
    z.object({ type: z.literal("CallAsked"), call: place, state: OpenCall }).readonly(),
    z.object({ type: z.literal("Decided"), call: place, state: OpenCall }).readonly(),
    z.object({ type: z.literal("CallEnded"), call: place, messages: z.array(ToolMessage).readonly() }).readonly(),
    z.object({ type: z.literal("StepHalted"), halt: StepHalt.optional() }).readonly(),
    z.object({ type: z.literal("StepEnded") }).readonly(),
    z.object({ type: z.literal("TurnEnded"), reason: HaltedReason.optional() }).readonly(),
    z
      .object({
        type: z.literal("WaitChanged"),
        pendingQuestion: PendingQuestion.optional(),
        pendingToolCalls: z.array(ToolCall).readonly(),
        expiresAt: z.number().optional()
      })
      .readonly(),
    z.object({ type: z.literal("MessagesAdded"), ...placed, metadata: openRecord.optional() }).readonly(),
    z.object({ type: z.literal("Used"), usage: Usage, chain: Chain.optional() }).readonly(),
    z.object({ type: z.literal("AgentSet"), agent: AgentRef.optional() }).readonly(),
    z.object({ type: z.literal("ModeSet"), permissionMode: ModeStanding.optional() }).readonly(),
    z.object({ type: z.literal("TaskBegan"), task: BackgroundTask }).readonly(),
    z.object({ type: z.literal("TaskChanged"), task: BackgroundTask }).readonly(),
    z.object({ type: z.literal("TaskEnded"), id: z.string() }).readonly(),
    z.object({ type: z.literal("ChildrenChanged"), children: ids.optional() }).readonly(),
    z.object({ type: z.literal("ReplyCut"), draft: z.string().optional() }).readonly(),
    z.object({ type: z.literal("Compacted"), compaction: Compaction.optional() }).readonly(),
    savedSchema
  ])
)
/**
 * One change of a record. This union is closed.
 *
 * - `InputTaken`: inputs are in the thread, and their turn runs; `inputs` are those of the turn, `known` the ids to remember
 * - `TurnContinued`: a turn runs that has no input: after a decision, results or a retry
 * - `Replied`: the model replied; with `step`, its last message has calls, and those of `manual` are the caller's
 * - `CallsIntended`: these calls write, and may run from now on
 * - `CallAsked`: a call waits for a decision
 * - `Decided`: a call was decided
 * - `CallEnded`: a call has its result, which follows the message in the order of the calls
 * - `StepHalted`: a call ends the turn, or, without `halt`, no call does
 * - `StepEnded`: no call of the step is left
 * - `TurnEnded`: the turn has ended for this reason
 * - `WaitChanged`: what the conversation waits for beside decisions, and how long
 * - `MessagesAdded`: hooks, a tool or the runtime changed the thread or its metadata
 * - `Used`: the usage so far, and what the chain has used
 * - `AgentSet`, `ModeSet`: the agent of the next request, and the permission mode
 * - `TaskBegan`, `TaskEnded`: a background task runs, or is over
 * - `TaskChanged`: what its sub-agent waits for, or what was decided about that
 * - `ChildrenChanged`: the conversations of sub-agents that have begun
 * - `ReplyCut`: the text of a reply that was cut short
 * - `Compacted`: what requests have in place of the first messages from now on
 * - `Saved`: a whole record, as a fork, a rewind and earlier versions store it: the first `kept` messages stay
 *
 * `call` is the place of a call in its message.
 */
export type Entry = z.infer<typeof entrySchema>
/** @alias */
export const Entry: z.ZodType<Entry> = entrySchema

/** The record after an entry. */
export const evolve = (record: Conversation, entry: Entry): Conversation => {
  switch (entry.type) {
    case "InputTaken": {
      const known = entry.known === undefined ? record.known : [...(record.known ?? []), ...entry.known]
      return { ...running(record), thread: withPlaced(record.thread, entry), inputs: entry.inputs, known }
    }
    case "TurnContinued":
      return running(record)
    case "Replied": {
      const thread = withPlaced(record.thread, entry)
      return { ...record, thread, open: entry.step === undefined ? record.open : opened(thread, entry.step) }
    }
    case "CallsIntended":
      return entry.calls.reduce(
        (now, { call, ...given }) => withCall(now, call, { state: "intended", ...given }),
        record
      )
    case "CallAsked":
    case "Decided":
      return withCall(record, entry.call, entry.state)
    case "CallEnded": {
      const at = placeOfResult(record, entry.call)
      const next = withCall(record, entry.call, { state: "done" })
      if (next === record) return record
      const before = record.thread.messages
      const isLast = at === before.length
      const messages = isLast ? extended(before, entry.messages) : before.toSpliced(at, 0, ...entry.messages)
      return { ...next, thread: { ...record.thread, messages } }
    }
    case "StepHalted": {
      if (record.open === undefined) return record
      const { halt: _, ...open } = record.open
      return { ...record, open: entry.halt === undefined ? open : { ...open, halt: entry.halt } }
    }
    case "StepEnded":
      return { ...record, open: undefined }
    case "TurnEnded":
      return { ...record, running: false, lastHaltedReason: entry.reason }
    case "WaitChanged": {
      const { type: _, ...waits } = entry
      return { ...record, pendingQuestion: undefined, expiresAt: undefined, ...waits }
    }
    case "MessagesAdded": {
      const thread = withPlaced(record.thread, entry)
      return { ...record, thread: entry.metadata === undefined ? thread : { ...thread, metadata: entry.metadata } }
    }
    case "Used":
      return { ...record, usage: entry.usage, chain: entry.chain }
    case "AgentSet":
      return { ...record, agent: entry.agent }
    case "ModeSet":
      return { ...record, permissionMode: entry.permissionMode }
    case "TaskBegan":
      return withTasks(record, [...(record.tasks ?? []), entry.task])
    case "TaskChanged":
      return withTasks(record, withTask(record.tasks, entry.task))
    case "TaskEnded":
      return withTasks(record, record.tasks?.filter(({ id }) => id !== entry.id) ?? [])
    case "ChildrenChanged":
      return { ...record, children: entry.children }
    case "ReplyCut":
      return { ...record, draft: entry.draft }
    case "Compacted": {
      const { compaction: _, ...thread } = record.thread
      const { compaction } = entry
      return { ...record, thread: compaction === undefined ? thread : { ...thread, compaction } }
    }
    case "Saved":
      return restored(record, entry)
  }
}

/** How many of the first messages an entry certainly leaves as they are. */
export const keptBy = (record: Conversation, entry: Entry): number => {
  const { length } = record.thread.messages
  switch (entry.type) {
    case "InputTaken":
    case "Replied":
    case "MessagesAdded":
      return entry.at ?? length
    case "CallEnded":
      return placeOfResult(record, entry.call)
    case "Saved":
      return entry.kept
    default:
      return length
  }
}

const running = (record: Conversation): Conversation => ({
  ...record,
  running: true,
  expiresAt: undefined,
  draft: undefined
})

const withPlaced = (
  thread: Thread,
  { at = thread.messages.length, messages }: { readonly at?: number | undefined; readonly messages: Thread["messages"] }
): Thread =>
  messages.length === 0 && at >= thread.messages.length
    ? thread
    : {
        ...thread,
        messages:
          at < thread.messages.length
            ? thread.messages.slice(0, at).concat(messages)
            : extended(thread.messages, messages)
      }

const fresh: OpenCall = { state: "new" }
const manual: OpenCall = { state: "manual" }

const opened = (
  { messages }: Thread,
  step: NonNullable<Extract<Entry, { readonly type: "Replied" }>["step"]>
): OpenStep | undefined => {
  const at = messages.findLastIndex(({ role }) => role === "assistant")
  const message = messages[at]
  if (message?.role !== "assistant") return undefined
  const calls = (message.toolCalls ?? []).map((_, call) => (step.manual.includes(call) ? manual : fresh))
  const { id, agent } = step
  return { ...(id !== undefined && { id }), ...(agent !== undefined && { agent }), at, calls }
}

/** A call that is done stays done. */
const withCall = (record: Conversation, call: number, state: OpenCall): Conversation => {
  const { open } = record
  const now = open?.calls[call]
  if (open === undefined || now === undefined || now.state === "done") return record
  return { ...record, open: { ...open, calls: open.calls.with(call, state) } }
}

/** Results follow their message in the order of the calls. */
const placeOfResult = ({ open, thread }: Conversation, call: number): number => {
  if (open === undefined) return thread.messages.length
  let at = open.at + 1
  for (let before = 0; before < call; before++) if (open.calls[before]?.state === "done") at++
  return at
}

const withTasks = (record: Conversation, tasks: ReadonlyArray<BackgroundTask>): Conversation => ({
  ...record,
  tasks: tasks.length === 0 ? undefined : tasks
})

const restored = (
  { id, version, thread, known }: Conversation,
  { kept, messages, known: saving, metadata, compaction, state }: Extract<Entry, { readonly type: "Saved" }>
): Conversation => ({
  ...state,
  id,
  version,
  thread: {
    messages: kept === 0 ? messages : [...thread.messages.slice(0, kept), ...messages],
    ...(metadata !== undefined && { metadata }),
    ...(compaction !== undefined && { compaction })
  },
  ...(saving !== undefined && {
    known: saving.kept === 0 ? saving.added : [...(known ?? []).slice(0, saving.kept), ...saving.added]
  })
})

/** The entry that makes any record this one, of which the first `kept` messages and known ids are there. */
export const saved = (
  record: Conversation,
  kept: { readonly messages: number; readonly known: number } = { messages: 0, known: 0 }
): Extract<Entry, { readonly type: "Saved" }> => {
  const { id: _, thread, version: __, known, inbox: ___, ...state } = record
  return {
    type: "Saved",
    kept: kept.messages,
    messages: kept.messages === 0 ? thread.messages : thread.messages.slice(kept.messages),
    ...(known !== undefined && { known: { kept: kept.known, added: known.slice(kept.known) } }),
    ...(thread.metadata !== undefined && { metadata: thread.metadata }),
    ...(thread.compaction !== undefined && { compaction: thread.compaction }),
    state
  }
}
