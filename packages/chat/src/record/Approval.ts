/**
 * Approvals: tool calls that wait for the decision of a person.
 *
 * @module
 */
import * as z from "zod"
import { anything, openRecord, QuestionOptions } from "../values/index.ts"
import { ToolCall, Usage } from "../model/index.ts"

/**
 * Why a call waits.
 *
 * - `permission`: `ask` of the permissions suspended it; its handler never ran
 * - `unknown_outcome`: the program ended while it ran, so whether it took effect is unknown
 * - `question`: a call of a sub-agent asks a person; a `result` answers it
 * - `tool_result`: the caller answers this call of a sub-agent; a `result` gives its result
 */
export const ApprovalKind = z.enum(["permission", "unknown_outcome", "question", "tool_result"])
export type ApprovalKind = z.infer<typeof ApprovalKind>

const pendingApprovalSchema = z.lazy(() =>
  z
    .object({
      toolCall: ToolCall,
      kind: ApprovalKind,
      reason: z.string(),
      options: QuestionOptions.optional(),
      agent: z.string().optional(),
      chat: z.string().optional(),
      task: z.string().optional(),
      askedAt: z.number(),
      expiresAt: z.number().optional()
    })
    .readonly()
)

/**
 * A call that waits for a decision.
 *
 * **Details**: a call of a sub-agent has the name of the `agent`, and the id of its conversation as `chat`. The `id` of its
 * `toolCall` is the address for `approve`: the id of the call of the sub-agent, `/~/`, and the id of the waiting call. Its
 * `reason` is the question, if it asks one. Its long arguments are cut: `arguments` is `null`, and `rawArguments` has the
 * beginning. `task` is the id of the background task whose sub-agent waits; the turn does not wait for it. `options` are those of its question, in plain JSON of at most 2,000 characters.
 *
 * **Units and defaults**: `askedAt` and `expiresAt` are whole milliseconds on the system's clock; without `expiresAt` the
 * wait has no limit.
 */
export interface PendingApproval extends z.infer<typeof pendingApprovalSchema> {}
export const PendingApproval: z.ZodType<PendingApproval> = pendingApprovalSchema

/**
 * The decision of a person about a call.
 *
 * - `allow`: it runs, with other arguments if given; a call with an unknown outcome runs again, under the same idempotency
 *   key
 * - `deny`: it does not run, and the model reads the reason
 * - `halt`: it does not run, the other calls that were allowed are not started, and the turn ends
 * - `result`: it does not run, and this is its result: the person did the task, or knows its result. For a question of a
 *   sub-agent it is the answer
 */
export const Decision = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("allow"), arguments: openRecord.optional() }).readonly(),
    z.strictObject({ type: z.literal("deny"), reason: z.string().optional() }).readonly(),
    z.strictObject({ type: z.literal("halt"), reason: z.string().optional() }).readonly(),
    z.strictObject({ type: z.literal("result"), value: anything }).readonly()
  ])
)
export type Decision = z.infer<typeof Decision>

/** A call that a wait is below: the agent of its chat, and its tool. */
const CallAbove = z.lazy(() => z.object({ agent: z.string(), tool: z.string() }).readonly())

/**
 * One wait of a sub-agent's chat.
 *
 * - `id`: the call in that chat; for a wait of its own sub-agent an address
 * - `at`: the index of that call's message in the thread of the `chat` that asks, because a later call can have the same id
 * - `chat`, `agent`: the conversation that asks, and its agent
 * - `above`: the agents of the chats between, from the top down, each with its tool that the wait is below
 * - `decision`: what a person decided
 */
export const Ask = z.lazy(() =>
  z
    .object({
      id: z.string(),
      at: z.number().int(),
      kind: ApprovalKind,
      toolCall: ToolCall,
      reason: z.string(),
      options: QuestionOptions.optional(),
      agent: z.string(),
      chat: z.string(),
      above: z.array(CallAbove).readonly().optional(),
      askedAt: z.number(),
      expiresAt: z.number().optional(),
      decision: Decision.optional()
    })
    .readonly()
)
export type Ask = z.infer<typeof Ask>

/**
 * What a call waits for: the chat of its sub-agent, the waits of that, and its usage that the chat of the call has counted.
 *
 * **Details**: `chat` is empty when the handler of the call asks by itself. Then `state` is what it gets back with the answers, and the
 * `chat` and the `agent` of each ask are empty.
 */
export const ChildWait = z.lazy(() =>
  z.object({ chat: z.string(), asks: z.array(Ask).readonly(), counted: Usage, state: anything.optional() }).readonly()
)
export type ChildWait = z.infer<typeof ChildWait>
