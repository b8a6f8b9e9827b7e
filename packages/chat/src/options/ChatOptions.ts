/**
 * The options of a step and of a chat.
 *
 * @module
 * @source ALLM.Chat, `step_opts` and `chat_opts`
 */
import type { System } from "@troupe/otp"
import type { AdapterEvent } from "../events/index.ts"
import type { Hooks, Permissions } from "../gate/index.ts"
import type { ResponseFormat, ToolChoice } from "../model/index.ts"
import type { RetryNotice, RetryOptions } from "../adapter/index.ts"
import type { StepResult } from "../record/index.ts"
import type { ToolResultEncoder } from "../values/index.ts"
import type { Tracing } from "./Tracing.ts"
import type { OnToolError, CallTimeout, OnLateResult } from "./callPolicy.ts"
import type { Tool, ToolExecutor } from "../tool/index.ts"

export type { CallTimeout, LateResult, OnLateResult, OnToolError, ToolErrorDecision } from "./callPolicy.ts"

/** Options of one step. */
export interface StepOptions {
  /** `"auto"` runs tool calls, `"manual"` leaves them to the caller. Default `"auto"`. */
  readonly mode?: "auto" | "manual" | undefined
  readonly model?: string | undefined
  /** What the model is told first, as a system message of every request; it is no part of the thread. */
  readonly instructions?: string | undefined
  /** Replace the engine's tools of the same name; others are added. */
  readonly tools?: ReadonlyArray<Tool> | undefined
  readonly toolChoice?: ToolChoice | undefined
  readonly responseFormat?: ResponseFormat | undefined
  readonly temperature?: number | undefined
  readonly maxTokens?: number | undefined
  /** Parameters for the provider's body, overlaid on the engine's `params`. */
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined
  /** For the adapter itself, overlaid on the engine's. */
  readonly adapterOptions?: Readonly<Record<string, unknown>> | undefined
  /** Deadline of one tool call, counted from its start; a tool's own `timeoutMs` comes first. Default 30,000. */
  readonly toolTimeoutMs?: CallTimeout | undefined
  /**
   * How long a tool call may go without saying anything: counted from its start, or from its last `progress`. A tool's own
   * `idleTimeoutMs` comes first. Default `Infinity`.
   */
  readonly toolIdleTimeoutMs?: CallTimeout | undefined
  /**
   * How long the adapter may take to open a request, and for each event once it is asked for one, in milliseconds; `Infinity`
   * for ever. Then the request fails with an `AdapterError` (`timeout`), as if the adapter had said so: before its first event
   * it is sent again as `retry` says. It is never cut short, and up to an eighth longer. Default 300,000.
   */
  readonly streamIdleTimeoutMs?: number | undefined
  /**
   * The most characters of one reply: its text, reasoning and metadata, the names, arguments and metadata of its calls, and 10
   * for each event. A larger reply ends its request with an `AdapterError` (`reply_too_large`). Default 4,000,000.
   */
  readonly maxReplyCharacters?: number | undefined
  /**
   * The most characters of one tool call's arguments, and of its metadata, as JSON text. A call with more never runs: its
   * `arguments` are `null`, it ends as `invalid`, and the model reads the bound. Default 1,000,000.
   */
  readonly maxToolArgumentCharacters?: number | undefined
  /**
   * The most characters of one tool result, as the text that the model reads. A call with a larger result fails with a
   * `ToolError` (`result_too_large`), and the model reads the bound. Default 1,000,000.
   */
  readonly maxToolResultCharacters?: number | undefined
  /** How long a cancelled call may take to end before nobody waits for it any more, in milliseconds. Default 1,000. */
  readonly drainMs?: number | undefined
  /** How many tool calls run at once. Default twice the processors, at most the number of calls. */
  readonly maxConcurrency?: number | undefined
  /** In which order the tool calls of a reply start. Default `"concurrent"`; a living chat's is `"effects"`. */
  readonly schedule?: Schedule | undefined
  /** Default `"continue"`. */
  readonly onToolError?: OnToolError | undefined
  /** What happens when a deadline of a call has passed; as `onToolError`, in its place. Default: `onToolError` decides. */
  readonly onToolTimeout?: OnToolError | undefined
  /** Told what handlers come to that end after their call was over (`Zombies`). Default: nobody. */
  readonly onLateResult?: OnLateResult | undefined
  /**
   * A call of a tool that does not exist: `"error"` ends the step with an `unknown_tool` error, `"continue"` tells the
   * model which tools there are. Default `"error"`; a living chat's is `"continue"`.
   */
  readonly onUnknownTool?: "error" | "continue" | undefined
  /** Which calls may run, and who is asked. Default: every call runs. */
  readonly permissions?: Permissions | undefined
  /** Functions that are told of what happens, and may have a say in it. Default: none. */
  readonly hooks?: Hooks | undefined
  /** How long one hook may take, in milliseconds; `Infinity` for as long as it likes. Default 30,000. */
  readonly hookTimeoutMs?: number | undefined
  readonly toolExecutor?: ToolExecutor | undefined
  readonly toolResultEncoder?: ToolResultEncoder | undefined
  /** Handed to tool handlers; takes the place of the engine's. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  readonly sessionId?: string | undefined
  /** Default: a new random id, the same for all steps of a chat. */
  readonly requestId?: string | undefined
  /** `false` removes `text_delta` events. Default `true`. */
  readonly emitTextDeltas?: boolean | undefined
  /** `false` removes `tool_call_delta` events. Default `true`. */
  readonly emitToolDeltas?: boolean | undefined
  /** `true` keeps all `raw_chunk` events; usage always passes. Default `false`. */
  readonly includeRawChunks?: boolean | undefined
  /** When a refused request is sent again; `false` for never. Default: the engine's, else `Retry.defaults`. */
  readonly retry?: RetryOptions | false | undefined
  /** Told before each wait of a retry. What it throws is thrown at the reader, and ends a living chat's process. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined
  /** Sees every adapter event, before the filters. What it throws is thrown at the reader, and ends a living chat's process. */
  readonly onEvent?: ((event: AdapterEvent) => void) | undefined
  /** Aborting it cancels: running tools are told and drained, the result says `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /**
   * The system whose processes run it, and whose clock counts its time. Default: one that all such calls share; in a
   * system with a test clock a run is the same each time, and waits for nothing.
   */
  readonly system?: System.System | undefined
  /** Where spans go. Default: nowhere, at no cost. */
  readonly tracing?: Tracing | undefined
}

/** Options of one model request on its own: those of a step that are not about running tools. */
export type GenerateOptions = Omit<
  StepOptions,
  | "mode"
  | "toolTimeoutMs"
  | "toolIdleTimeoutMs"
  | "onToolTimeout"
  | "onLateResult"
  | "maxConcurrency"
  | "schedule"
  | "onToolError"
  | "onUnknownTool"
  | "permissions"
  | "hooks"
  | "hookTimeoutMs"
  | "toolExecutor"
  | "toolResultEncoder"
  | "maxToolResultCharacters"
  | "context"
>

/** Options of a chat. */
export interface ChatOptions extends StepOptions {
  /** The most model requests. Default: the engine's `params.maxTurns`, else 8. */
  readonly maxTurns?: number | undefined
  /**
   * Asked after every step that would go on; `true` ends the chat with `halt_when`.
   *
   * **Contract**: synchronous; what it throws is thrown at the reader.
   */
  readonly haltWhen?: ((step: StepResult) => boolean) | undefined
  /**
   * Bounds beside `maxTurns`.
   *
   * **Details**: tokens and cost are looked at after each step that would go on, so that one step may exceed them; the turn
   * ends with `budget_tokens` or `budget_cost`. When the time is over the running step is cancelled, and the turn ends with
   * `budget_time`, within the drain deadline. A final answer is `completed` all the same.
   */
  readonly budget?: Budget | undefined
  /**
   * How many replies in a row whose calls all failed end the turn with `consecutive_mistakes`; 0 for no bound. Default 0; a living
   * chat's is 3.
   *
   * **Details**: a crash, a timeout, a refusal, wrong arguments and a tool that does not exist count alike, once for a reply,
   * however many of its calls failed. A success of any call of a reply ends the count, and so does what a person says.
   */
  readonly maxMistakes?: number | undefined
  /**
   * How many replies in a row that change nothing end the turn with `no_progress`; 0 for no bound. Default 0; a living chat's is 3.
   *
   * **Details**: a reply changes nothing if its calls and their results are those of the reply before it, in whatever order,
   * and it says nothing else.
   */
  readonly maxUnproductive?: number | undefined
  /**
   * Two passes: the loop runs without `responseFormat`, then one more request without tools asks for the answer in that
   * form, a JSON Schema. The second is not counted by `maxTurns`. Default `false`.
   *
   * **Details**: it follows only on a first pass that ended with `completed`, `max_turns` or `halt_when`;
   * `metadata.structuredFinalize.pass1Halted` of the result says how that ended.
   */
  readonly structuredFinalize?: boolean | undefined
  /** The user message before the second pass; `""` for none. Default "Now provide your final structured response." */
  readonly structuredFinalizeNudge?: string | undefined
}

/**
 * What a turn may use up before it must stop asking the model.
 *
 * **Units and defaults**: `tokens` are those of all requests of the turn, prompts included, as far as they are reported;
 * `cost` is in the currency of the price list that computed it; `timeMs` are milliseconds since the turn began. None has
 * a bound by default.
 */
export interface Budget {
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
  readonly timeMs?: number | undefined
}

/**
 * In which order the tool calls of a reply start. Whatever it is, results are in call order.
 *
 * - `"concurrent"`: at once; a halt skips none of them
 * - `"effects"`: a call waits for those before it that it conflicts with: one of the two writes, and they have the same key,
 *   or one has none. Behind a halt nothing starts
 * - `"reference"`: first what is no read, one after another, then the reads at once. After a halt nothing starts
 */
export type Schedule = "concurrent" | "effects" | "reference"
