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
import { defaultSystem } from "../async/index.ts"
import { checkDispatch } from "./dispatchChecks.ts"
import { emit, emitResults } from "./dispatchEvents.ts"
import { isOwn } from "./dispatchFailure.ts"
import { isJudged, judge, toolsByName } from "./dispatchGate.ts"
import { DispatchRun, endsBatch } from "./dispatchRun.ts"
import type { ToolCall, ToolMessage } from "../model/index.ts"
import type { Denial } from "../gate/index.ts"
import type { DispatchState, Halt, Failure, Runner, DispatchResult, ToolResultsMessage } from "./dispatchState.ts"

export type {
  DispatchTool,
  DispatchState,
  Halt,
  Failure,
  RunnerContext,
  Runner,
  DispatchResult,
  ToolResult,
  ToolResultsMessage,
  DispatchEvent
} from "./dispatchState.ts"

/** Makes the result that ends the batch. */
export const halt = (reason: unknown): Halt => ({ type: "halt", reason })

/** Whether a result ends the batch: an object of type `halt` with a reason, whatever the reason. */
export const isHalt = (result: unknown): result is Halt => endsBatch(result)

/** Whether a result is the dispatcher's own, and not the runner's. */
export const isFailure = (result: unknown): result is Failure => isOwn(result)

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
 * import { Dispatch } from "@troupe/chat/dispatch"
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
 * import { Dispatch } from "@troupe/chat/dispatch"
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

/**
 * Tells the listener of a call, and then of its result.
 *
 * **Details**: no counter is changed. What the listener throws or rejects with is its own, and nobody waits for it.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 * import { Dispatch } from "@troupe/chat/dispatch"
 *
 * const seen: Array<string> = []
 * const state = { onEvent: (event: Dispatch.DispatchEvent) => seen.push(event.type) }
 * Dispatch.emitEvents(state, { id: "c1", name: "look", arguments: {} }, Message.toolResult("c1", "a tree"))
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
