/**
 * A conversation as a value: the record of a chat, the value of a session, and the beginning of a fork. Its open step is a stored
 * step that is not over.
 *
 * CONVO1. The status follows from the value alone, by one function.
 *
 * @module
 */
import * as z from "zod"
import { BackgroundTask } from "./BackgroundTask.ts"
import { Chain } from "./Chain.ts"
import { AgentRef, ParentRef } from "./Child.ts"
import { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import { InboxEntry } from "./Inbox.ts"
import { Thread, ToolCall, Usage } from "../model/index.ts"
import { ModeStanding } from "./PermissionMode.ts"
import * as Validate from "../model/Validate.ts"
import { ChildWait, Decision } from "./Approval.ts"
import { StepHalt } from "./StepResult.ts"
import { openRecord } from "../values/index.ts"
/** Why a call waits: for itself, or because its sub-agent or its handler asks. */
const CallWait = z.enum(["permission", "unknown_outcome", "subagent"])

/**
 * The state of one call of an open step.
 *
 * - `new`: it has not begun, or only reads
 * - `intended`: it writes, and may have run
 * - `waiting`: it waits for a person's decision
 * - `decided`: the decision is applied when the turn continues
 * - `manual`: the caller answers it
 * - `done`: its result is in the thread
 *
 * `arguments` are those that a person gave in place of the model's, of a call that ran with them. It runs again with them.
 *
 * A call of the kind `subagent` has the waits of its child, or the questions of its handler, and is `decided` when all of them are. Then
 * it runs again.
 */
export const OpenCall = z.lazy(() =>
  z.discriminatedUnion("state", [
    z.object({ state: z.literal("new") }).readonly(),
    z.object({ state: z.literal("intended"), arguments: openRecord.optional() }).readonly(),
    z
      .object({
        state: z.literal("waiting"),
        kind: CallWait,
        reason: z.string(),
        askedAt: z.number(),
        expiresAt: z.number().optional(),
        arguments: openRecord.optional(),
        child: ChildWait.optional()
      })
      .readonly(),
    z
      .object({ state: z.literal("decided"), kind: CallWait, decision: Decision, child: ChildWait.optional() })
      .readonly(),
    z.object({ state: z.literal("manual") }).readonly(),
    z.object({ state: z.literal("done") }).readonly()
  ])
)

export type OpenCall = z.infer<typeof OpenCall>

/**
 * The open step of a thread: its random id, the agent whose calls they are, the index of its message, its calls in order,
 * and how a call that is done ends the turn. Records of older versions have no `id`.
 */
export const OpenStep = z.lazy(() =>
  z
    .object({
      id: z.string().optional(),
      agent: z.string().optional(),
      at: z.number().int().nonnegative(),
      calls: z.array(OpenCall).readonly(),
      halt: StepHalt.optional()
    })
    .readonly()
)

export type OpenStep = z.infer<typeof OpenStep>

/** Whether a decided call continues the chat of a sub-agent, so that it runs again until it has its result. */
export const continuesChild = (call: OpenCall | undefined): boolean =>
  call?.state === "decided" && call.child !== undefined && call.child.chat !== ""

/** Whether a step waits for a decision. */
export const isWaiting = ({ calls }: OpenStep): boolean => calls.some(({ state }) => state === "waiting")

/**
 * The status of a conversation between two turns.
 *
 * - `idle`: it has no message yet, one step of it was run and another can follow, or all missing results were submitted
 * - `completed`: the last turn ended
 * - `awaiting_user`: a tool asked a question
 * - `awaiting_tools`: the caller must answer calls
 * - `awaiting_approval`: calls wait for a person's decision
 * - `interrupted`: its program ended during a turn
 * - `cancelled`: the last turn was cancelled or left, or its wait expired; its text and an open question are kept
 * - `error`: the last turn failed
 */
export const ConversationStatus = z.enum(Validate.statuses)
export type ConversationStatus = z.infer<typeof ConversationStatus>

/**
 * How the last turn ended: its halted reason, the metadata of that reason (see `ChatResult`), and the error of `error` and
 * `tool_error`.
 */
const LastOutcome = z.lazy(() =>
  z.object({ haltedReason: HaltedReason, metadata: openRecord, error: z.unknown().optional() }).readonly()
)

/** The schema of a conversation, with the schema of each of its fields. */
export const conversationSchema = z.lazy(() =>
  z
    .object({
      id: z.string().default(""),
      thread: Thread,
      usage: Usage.default({}),
      running: z.boolean().default(false),
      lastHaltedReason: HaltedReason.optional(),
      pendingQuestion: PendingQuestion.optional(),
      pendingToolCalls: z.array(ToolCall).readonly(),
      inbox: z.array(InboxEntry).readonly().optional(),
      inputs: z.array(z.string()).readonly().optional(),
      known: z.array(z.string()).readonly().optional(),
      expiresAt: z.number().optional(),
      open: OpenStep.optional(),
      agent: AgentRef.optional(),
      parent: ParentRef.optional(),
      permissionMode: ModeStanding.optional(),
      tasks: z.array(BackgroundTask).readonly().optional(),
      chain: Chain.optional(),
      children: z.array(z.string()).readonly().optional(),
      version: z.number().optional(),
      draft: z.string().optional(),
      status: ConversationStatus.optional(),
      lastOutcome: LastOutcome.optional(),
      context: openRecord.optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)

/**
 * A conversation between two moments: a chat's committed state, or the value of a session.
 *
 * **Details**: a record is written when a user message was accepted, after each step, when a turn ends, and before a call
 * that writes is started. Every call in `thread` has its result, except those in `pendingToolCalls` and in `open`.
 * `running` means that a turn was under way: a chat loaded from such a record was interrupted, and `retry` continues it. A
 * record is plain data: a text store writes `Codec.encode("ChatRecord", record)`, and reads with `Codec.decode`.
 *
 * - `inbox`: accepted inputs that are not in the thread yet; a loaded chat holds them until its next input
 * - `inputs`: the ids of the inputs that the last turn added to the thread
 * - `known`: the ids that senders chose, of all inputs in the thread
 * - `expiresAt`: when the chat stops waiting for the user, tool results or a decision, in milliseconds since the epoch
 * - `open`: the step that is not over: its random id, the index of its message in the thread, and the state of each of its
 *   calls, in order: it may have run (`intended`), waits for a decision, was decided, is the caller's, is `done`, or has
 *   not begun (`new`)
 * - `version`: the number of its entry in the store's log; absent if the store has no log
 * - `draft`: the text of the interrupted reply, as far as it was stored
 * - `agent`: the name of the agent that its next request is of, and the version of its definition; absent without an agent
 * - `parent`: the call that it was begun for, if it is the conversation of a sub-agent; no turn changes it
 * - `tasks`: the background tasks that run; absent if there are none
 * - `children`: the conversations of sub-agents that have begun, and that can be called again; absent if there are none
 * - `chain`: what the last input of a person or a host has caused so far; absent if nothing can follow from it
 * - `permissionMode`: the mode of calls, the loosest mode they may set, and the host's mode, if they differ from the
 *   options
 * - `context`, `metadata`: the caller's; no turn changes them. Handlers of a session's calls get its `context`
 * - `status`, `lastOutcome`: the status and the last outcome of a session; {@link statusOf} computes the status of any value
 *
 * **Units and defaults**: `id` is `""` for a session without an id. `usage` is empty, and `running` is false.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Codec, type Store } from "@troupe/chat/store"
 *
 * const texts = new Map<string, string>()
 * const store: Store.Store = {
 *   load: (id) => {
 *     const text = texts.get(id)
 *     return text === undefined ? undefined : Codec.decode("ChatRecord", text)
 *   },
 *   save: (record) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
 *   delete: (id) => void texts.delete(id)
 * }
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), store })
 * await (await troupe.chat("a")).send("Hello").result()
 * await troupe.stop()
 *
 * Codec.decode("ChatRecord", texts.get("a") ?? "").lastHaltedReason // => "completed"
 * ```
 */
export interface Conversation extends z.infer<typeof conversationSchema> {}
/** @alias */
export const Conversation: z.ZodType<Conversation> = conversationSchema

/** The parts of a conversation that its status follows from. */
type StatusParts = Pick<
  Conversation,
  "status" | "open" | "pendingToolCalls" | "pendingQuestion" | "lastHaltedReason"
> & {
  readonly running?: boolean | undefined
}

/** What `statusOf` reads when the value has no status, or one that its other parts contradict. */
const derivedStatus = ({ running, pendingQuestion, lastHaltedReason: reason }: StatusParts): ConversationStatus => {
  if (running === true) return "interrupted"
  if (reason === "cancelled" || reason === "expired") return "cancelled"
  if (pendingQuestion !== undefined) return "awaiting_user"
  return reason === undefined || reason === "manual_tool_calls" || reason === "awaiting_approval" ? "idle" : "completed"
}

/**
 * The status of a conversation (CONVO1).
 *
 * **Details**: the first that holds decides: the last turn failed, calls wait for a decision, calls wait for the caller, the
 * `status` of the value, its turn was interrupted, the last turn was cancelled, a question is open. Otherwise it is `idle`
 * or `completed`.
 */
export const statusOf = (conversation: StatusParts): ConversationStatus => {
  const { status, open, running, pendingToolCalls, pendingQuestion, lastHaltedReason: reason } = conversation
  const failed = reason === "error" || reason === "tool_error"
  if (status === "error" || (status === undefined && running !== true && failed)) return "error"
  if (open !== undefined && isWaiting(open)) return "awaiting_approval"
  if (pendingToolCalls.length > 0) return "awaiting_tools"
  const isOver =
    status === "awaiting_tools" ||
    status === "awaiting_approval" ||
    (status === "awaiting_user" && pendingQuestion === undefined)
  return status === undefined || isOver ? derivedStatus(conversation) : status
}
