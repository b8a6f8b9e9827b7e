/**
 * Runs the tool calls of one reply through a function of yours, in a safe order: reads together, writes one by one.
 *
 * The chats and `ToolRunner` run tools by themselves. A dispatcher is for a loop that you write: it decides when each call
 * starts, and what becomes of the state that calls hand on; the call itself is the runner's.
 *
 * @module
 * @source ExAthena.Loop.Parallel
 */
import type { System } from "@troupe/otp"
import type { ToolError } from "../errors/ChatError.ts"
import type { Hooks } from "../gate/Hooks.ts"
import { defaultSystem } from "../async/defaultSystem.ts"
import { checkDispatch } from "./dispatchChecks.ts"
import { emit, emitResults } from "./dispatchEvents.ts"
import { isOwn } from "./dispatchFailure.ts"
import { isJudged, judge, toolsByName } from "./dispatchGate.ts"
import { DispatchRun, endsBatch } from "./dispatchRun.ts"
import type { ToolMessage } from "../model/Message.ts"
import type { Outcome } from "../record/Outcome.ts"
import type { Denial, Mode, Permissions } from "../gate/Permissions.ts"
import type { Awaitable } from "../tool/Tool.ts"
import type { ToolCall } from "../model/ToolCall.ts"

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

/** Makes the result that ends the batch. */
export const halt = (reason: unknown): Halt => ({ type: "halt", reason })

/** Whether a result ends the batch: an object of type `halt` with a reason, whatever the reason. */
export const isHalt = (result: unknown): result is Halt => endsBatch(result)

/** What the dispatcher puts in the place of a result that it did not get: why, and what the model is told. */
export interface Failure {
  readonly type: "failure"
  readonly toolCall: ToolCall
  readonly outcome: Outcome
  readonly error: ToolError
  readonly message: ToolMessage
}

/** Whether a result is the dispatcher's own, and not the runner's. */
export const isFailure = (result: unknown): result is Failure => isOwn(result)

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

/**
 * How a batch is run.
 *
 * - `schedule`: `effects`, the default, or `reference`, the order and the state of the original dispatcher
 * - `system`: whose clock counts the timeouts; by default the host's
 * - `signal`: ends the batch when it is aborted, without waiting for any call
 */
export interface DispatchOptions {
  readonly schedule?: "effects" | "reference" | undefined
  readonly system?: System.System | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs calls, and gives their results in the order of the calls.
 *
 * **Details** of `effects`: reads run together. Writes run in the order of the calls, those of different keys side by side.
 * A read behind a write sees what it wrote, a read in front of it does not. A call starts with what the calls in front of it
 * made of the state, as far as they are over in a row; in the end every call's changes are put together in the order of the
 * calls: differences of numbers are added, so that nothing is lost that was spent side by side. A runner that throws, is late
 * or returns no result and state is a {@link Failure} and a mistake. Behind a halt no call starts: such calls fail as
 * `not_started`, all others are waited for, and of several halts the first in the order of the calls counts. If the state has permissions, a phase or `PreToolUse` hooks, all calls are judged before the first one starts; one that is refused
 * fails as `denied`.
 *
 * **Details** of `reference`: all calls but the reads run first, one by one and without a timeout, handing the state on; what
 * one throws reaches the caller. Then the reads run together, each on the state as the others left it. Of what a read
 * changes only a lower mistake counter and the budget count, the budget of the last to end. A halt ends the batch at once:
 * reads that still run are told by their signal, and not waited for. `null`, `undefined` and `false` are no results.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_options`) for calls, a state, a runner or options that make no sense, and with the
 * signal's reason when `signal` is aborted.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Dispatch } from "@troupe/chat"
 *
 * const state = { tools: [{ name: "look", effect: "read" as const }, { name: "put" }], budget: 100 }
 * const calls = ["look", "put", "look"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
 *
 * const order: Array<string> = []
 * const run = await Dispatch.run(calls, state, async ({ id, name }, state) => {
 *   order.push(id)
 *   return [`${name} done`, { ...state, budget: state.budget - 10 }]
 * })
 * order // => ["c0", "c1", "c2"]
 * run.type === "ok" && run.results // => ["look done", "put done", "look done"]
 * run.state.budget // => 70
 * ```
 */
export const run = async <State extends DispatchState, Result>(
  calls: ReadonlyArray<ToolCall>,
  state: State,
  runner: Runner<State, Result>,
  options: DispatchOptions = {}
): Promise<DispatchResult<State, Result>> => {
  checkDispatch({ calls, state, runner, options })
  const { schedule = "effects", system = defaultSystem(), signal } = options
  signal?.throwIfAborted()
  const judged = schedule === "effects" && isJudged(state)
  const verdicts = judged ? await judge(calls, state, { tools: toolsByName(state), system, signal }) : []
  signal?.throwIfAborted()
  return new DispatchRun<State, Result>(calls, state, runner, { schedule, system, signal, verdicts }).result()
}

/**
 * What the gate says of a call.
 *
 * - `allow`: it may run, as it stands here: a person or a hook may have put other arguments in
 * - `deny`: it does not run; the model reads the reason, `denial` says it for programs
 * - `halt`: it does not run, and neither does anything else
 * - `suspend`: it waits for an answer that comes later
 */
export type GateVerdict =
  | { readonly type: "allow"; readonly toolCall: ToolCall }
  | { readonly type: "deny"; readonly reason: string; readonly denial: Denial | undefined }
  | { readonly type: "halt"; readonly reason: string }
  | { readonly type: "suspend" }

/**
 * Judges one call by the state's permissions and `PreToolUse` hooks, in the mode that is its phase.
 *
 * **When to use**: in a runner under `reference`, before the tool runs. `effects` judges the calls of a batch itself.
 *
 * **Details**: whether the tool exists is not checked. A state that asks nobody allows every call.
 *
 * **Errors**: rejects as {@link run} does.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Dispatch } from "@troupe/chat"
 *
 * const state = { tools: [{ name: "put" }], phase: "plan" as const }
 * const verdict = await Dispatch.preToolGate({ id: "c1", name: "put", arguments: {} }, state)
 * verdict.type // => "deny"
 * verdict.type === "deny" && verdict.denial?.code // => "phase_gated"
 * ```
 */
export const preToolGate = async (
  toolCall: ToolCall,
  state: DispatchState,
  options: Pick<DispatchOptions, "system" | "signal"> = {}
): Promise<GateVerdict> => {
  checkDispatch({ calls: [toolCall], state, options })
  const { system = defaultSystem(), signal } = options
  signal?.throwIfAborted()
  const [verdict] = await judge([toolCall], state, { tools: toolsByName(state), system, signal })
  if (verdict === undefined || verdict.type === "aborted") throw signal?.reason
  switch (verdict.type) {
    case "allow":
      return { type: "allow", toolCall: verdict.toolCall }
    case "deny":
      return { type: "deny", reason: verdict.reason, denial: verdict.denial }
    case "halt":
      return { type: "halt", reason: verdict.reason }
    case "suspend":
      return { type: "suspend" }
  }
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

/**
 * Tells the listener of a call, and then of its result.
 *
 * **Details**: no counter is changed. What the listener throws or rejects with is its own, and nobody waits for it.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Dispatch, toolResult } from "@troupe/chat"
 *
 * const seen: Array<string> = []
 * const state = { onEvent: (event: Dispatch.DispatchEvent) => seen.push(event.type) }
 * Dispatch.emitEvents(state, { id: "c1", name: "look", arguments: {} }, toolResult("c1", "a tree"))
 * seen // => ["tool_call", "tool_result"]
 * ```
 */
export const emitEvents = (
  state: DispatchState,
  toolCall: ToolCall,
  message: ToolMessage | ToolResultsMessage
): void => {
  emit(state, { type: "tool_call", toolCall })
  emitResultEvents(state, toolCall, message)
}

/**
 * Tells the listener of a result alone: for a runner that announced the call before it ran.
 *
 * **Details**: of a message with several results, `tool_result` is told of the first, and `tool_ui` of each that has something
 * to show.
 */
export const emitResultEvents = (
  state: DispatchState,
  toolCall: ToolCall,
  message: ToolMessage | ToolResultsMessage
): void => {
  emitResults(state, toolCall, message)
}
