/** The state that a dispatch folds, its tools, its runner and its results. */

import type { ToolError } from "../errors/index.ts"
import type { Hooks, Permissions } from "../gate/index.ts"
import type { Outcome, ToolCall, ToolMessage } from "../model/index.ts"
import type { Mode } from "../record/index.ts"
import type { Awaitable } from "../tool/index.ts"

/**
 * What the dispatcher looks at in a tool. A `Tool` is one.
 *
 * **Details**: `effect` is `"write"` where it is not given: what may change something runs by itself. Calls of equal `key`s
 * touch the same thing, calls of different ones do not meet; without a key a call may touch everything. A call whose key
 * throws, or is neither text nor `undefined`, fails without having run.
 */
export interface DispatchTool {
  readonly name: string
  readonly effect?: "read" | "write" | undefined
  readonly key?: ((args: Record<string, unknown>) => string | undefined) | undefined
  readonly timeoutMs?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The state that calls hand on: these fields are read by the dispatcher, any others are yours.
 *
 * **Units and defaults**: `maxConcurrency` is 4, and at least 1. `toolTimeoutMs` is 60,000 milliseconds. Of two tools of one
 * name the first counts; a call that names none is a write.
 *
 * **Gotchas**: a runner returns a new state, and never changes the one it got.
 */
export interface DispatchState {
  readonly tools?: ReadonlyArray<DispatchTool> | undefined
  readonly maxConcurrency?: number | null | undefined
  readonly toolTimeoutMs?: number | null | undefined
  /** What was spent: a number, or a record of numbers. */
  readonly budget?: unknown
  /** Mistakes in a row. */
  readonly consecutiveMistakes?: number | undefined
  /** The mode that permissions are judged in, in the place of their own. */
  readonly phase?: Mode | undefined
  readonly permissions?: Permissions | undefined
  readonly hooks?: Hooks | undefined
  /** What questions and hooks are handed. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  readonly onEvent?: ((event: DispatchEvent) => unknown) | undefined
}

/** A result that ends the batch, for any reason. `HandlerResult.halt` makes one, too. */
export interface Halt {
  readonly type: "halt"
  readonly reason: unknown
}

/** What the dispatcher puts in the place of a result that it did not get: why, and what the model is told. */
export interface Failure {
  readonly type: "failure"
  readonly toolCall: ToolCall
  readonly outcome: Outcome
  readonly error: ToolError
  readonly message: ToolMessage
}

/** What a runner is handed beside the call and the state: `signal` is aborted when nobody waits for the call any more. */
export interface RunnerContext {
  readonly signal: AbortSignal
}

/**
 * Runs one call.
 *
 * **Contract**: returns the result and the new state, as they are, as a promise or as an Effect. What it does after its
 * signal was aborted changes nothing.
 */
export type Runner<State extends DispatchState, Result> = (
  toolCall: ToolCall,
  state: State,
  context: RunnerContext
) => Awaitable<readonly [result: Result, state: State]>

/**
 * How a batch ended.
 *
 * - `ok`: a result for each call, in the order of the calls
 * - `halt`: a call returned a halt. `results` are those of all calls, the halts too; `reference` has none
 */
export type DispatchResult<State, Result> =
  | { readonly type: "ok"; readonly results: ReadonlyArray<Exclude<Result, Halt> | Failure>; readonly state: State }
  | {
      readonly type: "halt"
      readonly reason: unknown
      readonly state: State
      readonly results?: ReadonlyArray<Result | Failure>
    }

/** One result of a tool message, by default of the call it is told for, with what is shown to people beside it. */
export interface ToolResult {
  readonly toolCallId?: string | undefined
  readonly content: unknown
  readonly isError?: boolean | undefined
  readonly ui?: { readonly kind: string; readonly payload: unknown } | undefined
}

/** A message that answers several calls, or none yet. */
export interface ToolResultsMessage {
  readonly role?: "tool" | undefined
  readonly toolResults?: ReadonlyArray<ToolResult> | null | undefined
}

/**
 * What a dispatcher's listener is told.
 *
 * - `tool_call`: the model asked for this call
 * - `tool_result`: a call has its result
 * - `tool_ui`: something to show to people
 */
export type DispatchEvent =
  | { readonly type: "tool_call"; readonly toolCall: ToolCall }
  | { readonly type: "tool_result"; readonly toolCallId: string; readonly content: unknown; readonly isError: boolean }
  | { readonly type: "tool_ui"; readonly toolCallId: string; readonly kind: string; readonly payload: unknown }
