/** How failed, overdue and late tool calls are handled. */

import type { HandlerResult } from "../values/index.ts"
import type { Outcome, ToolCall } from "../model/index.ts"

/**
 * How a failed tool call is handled.
 *
 * - `"continue"`: the model reads the error, and the loop continues
 * - `"halt"`: the batch drains, then the loop ends with `tool_error`
 * - a function: decides for each failing call
 *
 * **Contract** of the function: synchronous, called at most once for each failing call, never for its own failures. A
 * throw, or anything but a decision, ends the loop as `"halt"` does.
 */
export type OnToolError =
  | "continue"
  | "halt"
  | ((toolCall: ToolCall, error: unknown) => { readonly continue: unknown } | "halt")

/**
 * A deadline of tool calls: milliseconds, `Infinity` for none, or a function of the call.
 *
 * **Contract** of the function: synchronous, called once for each run of a call, before its handler starts. If it throws,
 * or returns anything but milliseconds, the handler does not start: the call fails with a `ToolError` (`invalid_return`).
 */
export type CallTimeout = number | ((toolCall: ToolCall) => number)

/**
 * The late result of a handler that ended after its call was over.
 *
 * **Details**: `outcome` is how the call had ended (`restarted`: the handler was a former run of a restarted call),
 * `result` the handler's result, and `lateMs` the time from the end of the call, in milliseconds on the system's clock.
 */
export interface LateResult {
  readonly toolCall: ToolCall
  readonly outcome: Outcome | "restarted"
  readonly result: HandlerResult
  readonly lateMs: number
}
