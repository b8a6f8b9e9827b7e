/**
 * Runs the tool calls of one reply through a function of yours, in a safe order: reads together, writes one by one.
 *
 * Chats and `runToolCalls` run tools by themselves. A dispatcher is for a loop that you write: it decides when each call
 * starts, and merges the states that calls return. Your runner executes each call.
 *
 * @module
 * @source ExAthena.Loop.Parallel
 */
import type { System } from "@troupe/otp"
import { defaultSystem } from "../async/index.ts"
import { checkDispatch, isJudged, judge, toolsByName } from "./dispatchChecks.ts"
import {
  emit,
  emitResults,
  type DispatchState,
  type Halt,
  type Runner,
  type DispatchResult,
  type ToolResultsMessage
} from "./dispatchState.ts"
import { DispatchRun, mostOf } from "./dispatchRun.ts"
import type { ToolCall, ToolMessage } from "../model/index.ts"
import type { Denial } from "../gate/index.ts"
import type { HaltOrder } from "../options/index.ts"

export { isFailure } from "./dispatchFailure.ts"
export type { DispatchEvent, DispatchState, DispatchTool, Failure, Runner } from "./dispatchState.ts"

/** Makes the result that ends the batch. */
export const halt = (reason: unknown): Halt => ({ type: "halt", reason })

/** How a batch is run. */
interface DispatchOptions {
  /** `"reference"` has the order and the state of the original dispatcher. Default: `"effects"`. */
  readonly schedule?: "effects" | "reference" | undefined
  /** Which of several halts counts: `"call"`, the first in call order, or `"observed"`, the first in time. Default: `"call"`. */
  readonly haltOrder?: HaltOrder | undefined
  /** The system whose clock counts the timeouts. Default: the host's clock. */
  readonly system?: System.System | undefined
  /** Ends the batch when it is aborted, without waiting for calls. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs calls and returns their results in call order.
 *
 * **Details** of `effects`: reads run concurrently. Writes run in call order; writes with different keys run
 * concurrently. A read after a write sees its changes, a read before it does not. A call starts with the folded state
 * of the calls before it, up to the first call that is not over. The changes of all calls are folded in call order:
 * differences of numbers are added, so concurrent spending adds up. When a runner throws, times out or does not return
 * a result and a state, the result is a {@link Failure}, and the mistake counter rises. After a halt no later call
 * starts: such calls fail as `not_started`, and all other calls are awaited. Of several halts the first in call order
 * counts, or the first in time (`haltOrder`). If the state has permissions, a phase or `PreToolUse` hooks, all calls are judged before the first call
 * starts; a refused call fails as `denied`.
 *
 * **Details** of `reference`: all calls except reads run first, one by one and without a timeout, each with the state
 * of the call before; their exceptions reach the caller. Then the reads run concurrently, each with the state after the
 * writes. Of a read's changes only a lower mistake counter and the budget count; the budget of the last read to end is
 * kept. A halt ends the batch at once: the signals of running reads are aborted, and the batch does not wait for them.
 * `null`, `undefined` and `false` are not results.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_options`) for invalid calls, state, runner or options, and
 * with the signal's reason when `signal` is aborted.
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
  const { schedule = "effects", haltOrder, system = defaultSystem(), signal } = options
  signal?.throwIfAborted()
  const judged = schedule === "effects" && isJudged(state)
  const verdicts = judged
    ? await judge(calls.slice(0, mostOf(state)), state, { tools: toolsByName(state), system, signal })
    : []
  signal?.throwIfAborted()
  return new DispatchRun<State, Result>(calls, state, runner, {
    schedule,
    haltOrder,
    system,
    signal,
    verdicts
  }).result()
}

/**
 * The verdict of the gate about a call.
 *
 * - `allow`: the call in `toolCall` may run; a person or a hook may have edited its arguments
 * - `deny`: the call does not run; `reason` is for the model, `denial` for programs
 * - `halt`: neither this call nor any other call runs
 * - `suspend`: the call waits for a later answer
 */
type GateVerdict =
  | { readonly type: "allow"; readonly toolCall: ToolCall }
  | { readonly type: "deny"; readonly reason: string; readonly denial: Denial | undefined }
  | { readonly type: "halt"; readonly reason: string }
  | { readonly type: "suspend" }

/**
 * Judges one call by the state's permissions and `PreToolUse` hooks, with the state's phase as the mode.
 *
 * **When to use**: in a runner under `reference`, before the tool runs. `effects` judges the calls of a batch itself.
 *
 * **Details**: whether the tool exists is not checked. A state without permissions, phase and hooks allows every call.
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
 * Notifies the listener of a call, and then of its result. With `announced` it notifies of the result only, for a runner
 * that announced the call before it ran.
 *
 * **Details**: no counter is changed. An exception and a rejection of the listener are printed to the console; its promise is not
 * awaited. For a message with several results, `tool_result` is emitted for the first result, and `tool_ui` for each
 * result with `ui`.
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
  message: ToolMessage | ToolResultsMessage,
  { announced = false }: { readonly announced?: boolean | undefined } = {}
): void => {
  if (!announced) emit(state, { type: "tool_call", toolCall })
  emitResults(state, toolCall, message)
}
