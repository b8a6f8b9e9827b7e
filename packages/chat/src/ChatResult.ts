/**
 * The outcome of a chat.
 *
 * @module
 */
import type { QuestionOptions } from "./HandlerResult.ts"
import type { Response } from "./Response.ts"
import type { StepResult } from "./StepResult.ts"
import type { Thread } from "./Thread.ts"
import type { ToolCall } from "./ToolCall.ts"

/**
 * Why a chat stopped.
 *
 * - `completed`: the model gave its final answer
 * - `error`: a request failed
 * - `max_turns`: the bound on model requests was reached
 * - `halt_when`: the caller's predicate said so
 * - `ask_user`: a tool waits for the user
 * - `tool_error`: the error policy halted
 * - `manual_tool_calls`: the caller must submit tool results
 * - `cancelled`: the turn was cancelled
 * - `budget_tokens`, `budget_cost`, `budget_time`: the turn's budget is used up
 * - any other word: a handler halted with it
 */
export type HaltedReason =
  | "completed"
  | "error"
  | "max_turns"
  | "halt_when"
  | "ask_user"
  | "tool_error"
  | "manual_tool_calls"
  | "cancelled"
  | "budget_tokens"
  | "budget_cost"
  | "budget_time"
  | (string & {})

/** What a chat waits for when a tool asked the user. */
export interface PendingQuestion {
  readonly question: string
  readonly toolCallId: string
  readonly options: QuestionOptions
}

/**
 * Steps until a terminal condition.
 *
 * **Details**: `finalResponse` is the last step's, never a merge. `metadata` depends on the reason: `max_turns` has
 * `maxTurns`; `halt_when` has `haltWhenStepIndex`; handler halts have `haltToolCallId` and `haltResult`; `tool_error` has
 * `haltToolCallId` and `error`; `error` has `error`; `manual_tool_calls` has `manualTurnIndex`; the budgets have `budget` and,
 * but for the time, `spent`. After two passes there is `structuredFinalize`: `pass1Halted`, and `pass2Error` if the second
 * was refused.
 */
export interface ChatResult {
  readonly thread: Thread
  readonly finalResponse: Response | undefined
  readonly steps: ReadonlyArray<StepResult>
  readonly haltedReason: HaltedReason
  readonly pendingQuestion?: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Whether the chat stopped for another reason than that the model gave its final answer. */
export const isHalted = ({ haltedReason }: ChatResult): boolean => haltedReason !== "completed"
