/**
 * The outcome of a chat.
 *
 * @module
 */
import * as z from "zod"
import { PendingApproval } from "./Approval.ts"
import { openRecord, QuestionOptions } from "../values/index.ts"
import { Response, Thread, ToolCall, Usage } from "../model/index.ts"
import { StepResult } from "./StepResult.ts"
import { Mode } from "./PermissionMode.ts"

const reasons = [
  "completed",
  "error",
  "max_turns",
  "halt_when",
  "ask_user",
  "tool_error",
  "manual_tool_calls",
  "cancelled",
  "expired",
  "awaiting_approval",
  "budget_tokens",
  "budget_cost",
  "budget_time",
  "max_chain_requests",
  "max_tree_requests",
  "consecutive_mistakes",
  "no_progress",
  "hook_crashed"
] as const

/**
 * Why a chat stopped.
 *
 * - `completed`: the model gave its final answer
 * - `error`: a request failed
 * - `max_turns`: the bound on model requests was reached
 * - `halt_when`: the caller's `haltWhen` returned true
 * - `ask_user`: a tool waits for the user
 * - `tool_error`: the error policy halted
 * - `manual_tool_calls`: the caller must submit tool results
 * - `cancelled`: the turn was cancelled
 * - `expired`: the last reason of a chat, not of a turn: the chat waited for an answer longer than its time to live
 * - `awaiting_approval`: tool calls wait for a person's decision
 * - `budget_tokens`, `budget_cost`, `budget_time`: the budget of the turn and of its chain is used up
 * - `max_tree_requests`: the chat and its sub-agents have sent `maxTreeRequests` requests
 * - `max_chain_requests`: the turns that the runtime began have sent `maxChainRequests` requests
 * - `consecutive_mistakes`: `maxMistakes` replies in a row had only calls that failed
 * - `no_progress`: `maxUnproductive` replies in a row changed nothing
 * - `hook_crashed`: a hook failed, for an event that a hook can halt
 * - any other word: a handler or a hook halted with it
 */
export type HaltedReason = (typeof reasons)[number] | (string & {})
export const HaltedReason: z.ZodType<HaltedReason> = z.lazy(() =>
  z.union([z.enum(reasons), z.custom<string & {}>((value) => typeof value === "string")])
)

/** The question of a tool to the user. */
export const PendingQuestion = z.lazy(() =>
  z.object({ question: z.string(), toolCallId: z.string(), options: QuestionOptions }).readonly()
)
export type PendingQuestion = z.infer<typeof PendingQuestion>

/** Always present; `undefined` when there was no step. */
const finalResponse: z.ZodType<Response | undefined> = Response.optional()

const chatResultSchema = z.lazy(() =>
  z
    .object({
      thread: Thread,
      finalResponse,
      steps: z.array(StepResult).readonly(),
      haltedReason: HaltedReason,
      pendingQuestion: PendingQuestion.optional(),
      pendingToolCalls: z.array(ToolCall).readonly(),
      pendingApprovals: z.array(PendingApproval).readonly().optional(),
      permissionMode: Mode.optional(),
      usage: Usage.optional(),
      cost: z.number().optional(),
      metadata: openRecord
    })
    .readonly()
)

/**
 * The result of steps until a terminal condition.
 *
 * **Details**: `finalResponse` is that of the last step, never a merge. `pendingApprovals` are the calls that wait for a
 * decision, if any. `usage` is that of all steps, with their sub-agents; `cost` is its total, absent if none is known. `permissionMode` is the mode at the end, if it differs from the options; a next run begins in it if its
 * `permissions` set it. `metadata` depends on the reason: `max_turns` has `maxTurns`; `halt_when` has `haltWhenStepIndex`;
 * handler halts have `haltToolCallId` and `haltResult`; `tool_error` has `haltToolCallId` and `error`; `error` has `error`;
 * `manual_tool_calls` has `manualTurnIndex`; `max_chain_requests` has `maxChainRequests`; `max_tree_requests` has `maxTreeRequests`; the budgets have `budget` and, except for the time, `spent`;
 * `consecutive_mistakes` has `maxMistakes` and `mistakes`; `no_progress` has `maxUnproductive`, `unproductive` and a
 * `snapshot` of the last messages; a halt by a lifecycle hook has `haltHook`, its event, and after a fault `error`. After
 * two passes there is `structuredFinalize`: `pass1Halted`, and `pass2Error` if the second was refused.
 */
export interface ChatResult extends z.infer<typeof chatResultSchema> {}
export const ChatResult: z.ZodType<ChatResult> = chatResultSchema

/**
 * The last non-blank text of the model in the turn; `""` if there is none.
 *
 * **When to use**: to show the text of a stopped turn, whose last reply may contain only calls.
 */
export const lastText = ({ steps }: ChatResult): string =>
  steps.findLast(({ response }) => response.outputText.trim() !== "")?.response.outputText ?? ""
