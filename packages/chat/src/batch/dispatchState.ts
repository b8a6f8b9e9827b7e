/**
 * The types of a dispatch: its state, tools, runner and results, and the events that its listener gets.
 *
 * EMIT1. The call and the batch go on after an exception or a rejection of a listener, which the log gets. A returned promise is not
 *        awaited.
 */

import type { ToolError } from "../errors/index.ts"
import type { Hooks, Permissions } from "../gate/index.ts"
import type { Outcome, ToolCall, ToolMessage } from "../model/index.ts"
import type { Mode } from "../record/index.ts"
import type { Awaitable } from "../tool/index.ts"
import { callUnawaited } from "../async/index.ts"

/** The fields of a tool that the dispatcher reads. A `Tool` has them. */
export interface DispatchTool {
  /** The name that calls have. */
  readonly name: string
  /** Whether calls change something. Default: `"write"`, such a call runs alone. */
  readonly effect?: "read" | "write" | undefined
  /**
   * Names the resource of a call: calls with equal keys touch the same one, calls with different keys never conflict. A call
   * whose key throws, or is neither text nor `undefined`, fails and does not run. Default: a call may touch everything.
   */
  readonly key?: ((args: Record<string, unknown>) => string | undefined) | undefined
  /** The deadline of one call, in milliseconds. Default: the `toolTimeoutMs` of the state. */
  readonly timeoutMs?: number | undefined
  /** The program's own data. Default: empty. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The state that calls pass on. The dispatcher reads these fields; other fields are yours.
 *
 * **Gotchas**: a runner returns a new state and never mutates the given state.
 */
export interface DispatchState {
  /** The tools, of which the first with a name counts; a call of an unknown tool is a write. Default: none. */
  readonly tools?: ReadonlyArray<DispatchTool> | undefined
  /** How many calls run at once, at least 1. Default: twice the number of processors, or 4 under `schedule: "reference"`. */
  readonly maxConcurrency?: number | null | undefined
  /**
   * How many calls of a batch run: the first in call order. Each other call fails as `not_started`, with a `ToolError`
   * (`too_many_calls`). `Infinity` is no bound. Default 128.
   */
  readonly maxCallsPerReply?: number | null | undefined
  /** The deadline of one call, in milliseconds. Default: 60,000. */
  readonly toolTimeoutMs?: number | null | undefined
  /** The budget: a number, or a record of numbers. */
  readonly budget?: unknown
  /** Mistakes in a row. */
  readonly consecutiveMistakes?: number | undefined
  /** The permission mode; it overrides the mode of the permissions. */
  readonly phase?: Mode | undefined
  /** Which calls may run. Default: all. */
  readonly permissions?: Permissions | undefined
  /** Functions that are called for events. Default: none. */
  readonly hooks?: Hooks | undefined
  /** The context of questions and hooks. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Called with each event of the batch. Default: no call. */
  readonly onEvent?: ((event: DispatchEvent) => unknown) | undefined
}

/** A result that ends the batch, for any reason. The `halt` of tools makes one, too. */
export interface Halt {
  readonly type: "halt"
  readonly reason: unknown
}

/** The dispatcher's replacement for a missing result: the error, and the message for the model. */
export interface Failure {
  /** Distinguishes a failure from a result. */
  readonly type: "failure"
  /** The call without a result. */
  readonly toolCall: ToolCall
  /** How the call ended. */
  readonly outcome: Outcome
  /** Why it has no result. */
  readonly error: ToolError
  /** What the model reads. */
  readonly message: ToolMessage
}

/**
 * Runs one call.
 *
 * **Contract**: returns the pair of the result and the new state, a promise of it, or an Effect of it. A result after the
 * abort of its signal is discarded.
 */
export type Runner<State extends DispatchState, Result> = (
  toolCall: ToolCall,
  state: State,
  context: { readonly signal: AbortSignal }
) => Awaitable<readonly [result: Result, state: State]>

/**
 * How a batch ended.
 *
 * - `ok`: a result for each call, in call order
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

/** One result of a tool message. `toolCallId` defaults to the emitted call; `ui` is data to show to people. */
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
 * The events of a dispatcher's listener.
 *
 * - `tool_call`: the model asked for this call
 * - `tool_result`: a call has its result
 * - `tool_ui`: data to show to people
 */
export type DispatchEvent =
  | { readonly type: "tool_call"; readonly toolCall: ToolCall }
  | { readonly type: "tool_result"; readonly toolCallId: string; readonly content: unknown; readonly isError: boolean }
  | { readonly type: "tool_ui"; readonly toolCallId: string; readonly kind: string; readonly payload: unknown }

/** Emits `tool_result` for the first result, and `tool_ui` for each result with `ui`. */
export const emitResults = (
  state: DispatchState,
  toolCall: ToolCall,
  message: ToolMessage | ToolResultsMessage
): void => {
  const results = resultsOf(message)
  const first = results[0]
  if (first === undefined) return
  const { toolCallId: id = toolCall.id, content, isError = false } = first
  emit(state, { type: "tool_result", toolCallId: id, content, isError })
  for (const { toolCallId = toolCall.id, ui } of results) {
    if (isShown(ui)) emit(state, { type: "tool_ui", toolCallId, kind: ui.kind, payload: ui.payload })
  }
}

/** Calls the listener with one event (EMIT1). */
export const emit = ({ onEvent }: DispatchState, event: DispatchEvent): void => {
  if (onEvent !== undefined) callUnawaited(undefined, "onEvent of a dispatcher failed", () => onEvent(event))
}

const isShown = (ui: unknown): ui is { readonly kind: string; readonly payload: unknown } =>
  typeof ui === "object" && ui !== null && "kind" in ui && "payload" in ui

const resultsOf = (message: ToolMessage | ToolResultsMessage): ReadonlyArray<ToolResult> => {
  if (!("toolCallId" in message)) return message.toolResults ?? []
  const { toolCallId, content, outcome } = message
  return [{ toolCallId, content, isError: outcome !== undefined && outcome !== "completed" }]
}
