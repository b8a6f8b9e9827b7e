/** How failed, overdue and late tool calls are handled. */

import type { HandlerResult } from "../values/index.ts"
import type { Outcome, ToolCall } from "../model/index.ts"

/** What a policy function decides: put this value in the failed call's place, or end the loop. */
export type ToolErrorDecision = { readonly continue: unknown } | "halt"

/**
 * What happens when a tool call fails.
 *
 * - `"continue"`: the model reads the error, the loop goes on
 * - `"halt"`: the batch drains, then the loop ends with `tool_error`
 * - a function: decides, for each failing call
 *
 * **Contract** of the function: synchronous, called at most once for each failing call, never for its own failures. A
 * throw, or anything but a decision, ends the loop as `"halt"` does.
 */
export type OnToolError = "continue" | "halt" | ((toolCall: ToolCall, error: unknown) => ToolErrorDecision)

/**
 * A deadline of tool calls: milliseconds, `Infinity` for none, or a function that says for each call.
 *
 * **Contract** of the function: synchronous, asked once for each run of a call, before its handler starts. If it throws, or
 * returns no milliseconds, the handler does not start: the call fails with a `ToolError` (`invalid_return`).
 */
export type CallTimeout = number | ((toolCall: ToolCall) => number)

/**
 * What a handler came to that ended after its call was over.
 *
 * **Details**: `outcome` is how the call had ended (`restarted`: it was a former run of a call that was restarted), `result`
 * what the handler came to, and `lateMs` how long after the end of the call, in milliseconds on the system's clock.
 */
export interface LateResult {
  readonly toolCall: ToolCall
  readonly outcome: Outcome | "restarted"
  readonly result: HandlerResult
  readonly lateMs: number
}

/**
 * Told of late results.
 *
 * **Contract**: it changes nothing that was said of the call, and what it throws goes nowhere.
 */
export type OnLateResult = (late: LateResult) => void
