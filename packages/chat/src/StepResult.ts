/**
 * The outcome of one step.
 *
 * @module
 */
import type { QuestionOptions } from "./HandlerResult.ts"
import type { ToolMessage } from "./Message.ts"
import type { Response } from "./Response.ts"
import type { Thread } from "./Thread.ts"
import type { ToolCall } from "./ToolCall.ts"

/**
 * Why a batch of tool calls ends the loop.
 *
 * - `question`: a handler asked the user
 * - `tool_error`: the error policy halted
 * - `halt`: a handler halted with a reason of its own
 * - `cancelled`: the turn was cancelled; `question` is what a handler had asked before
 */
export type StepHalt =
  | {
      readonly type: "question"
      readonly toolCallId: string
      readonly question: string
      readonly options: QuestionOptions
    }
  | {
      readonly type: "tool_error"
      readonly toolCallId: string
      readonly error: unknown
      readonly policyFault?: unknown
    }
  | { readonly type: "halt"; readonly toolCallId: string; readonly reason: string; readonly result: unknown }
  | {
      readonly type: "cancelled"
      readonly question?:
        | { readonly toolCallId: string; readonly question: string; readonly options: QuestionOptions }
        | undefined
    }

/**
 * One model request and the tools it asked for.
 *
 * **Details**: `thread` is the input thread, the assistant message and the tool messages (in call order). `done` is true
 * when nothing is left to do: a final answer, an error or a halt. `manualToolCalls` are calls the caller must answer;
 * `truncatedToolCalls` are calls of a reply that ended otherwise than with `tool_calls`: they are never executed.
 */
export interface StepResult {
  readonly thread: Thread
  readonly response: Response
  readonly toolResults: ReadonlyArray<ToolMessage>
  readonly done: boolean
  readonly mode: "auto" | "manual"
  readonly halt?: StepHalt | undefined
  readonly manualToolCalls: ReadonlyArray<ToolCall>
  readonly truncatedToolCalls: ReadonlyArray<ToolCall>
  readonly error?: unknown
}
