/**
 * The options of a step and of a chat.
 *
 * @module
 * @source ALLM.Chat, `step_opts` and `chat_opts`
 */
import type { System } from "@troupe/otp"
import type { Compactor } from "../compaction/index.ts"
import type { AdapterEvent } from "../events/index.ts"
import type { Hooks, Permissions } from "../gate/index.ts"
import type { Response, ResponseFormat, ToolChoice } from "../model/index.ts"
import type { RetryNotice, RetryOptions } from "../adapter/index.ts"
import type { StepResult } from "../record/index.ts"
import type { ToolResultEncoder } from "../values/index.ts"
import type { Tracing } from "./traceOptions.ts"
import type { CallTimeout, LateResult, OnToolError } from "./callPolicy.ts"
import type { Parameters, ProviderTool, Tool, ToolExecutor } from "../tool/index.ts"

/**
 * Functions that return metadata of the host. It is stored with the next entry, and no entry is written for it.
 *
 * **Contract**: synchronous. Each returns a plain JSON object, or `undefined`, and must not throw.
 */
interface StoredMetadata {
  /**
   * Called at the end of each reply, with the model's response, at the end of each tool call, and after the hooks of a turn's end. The
   * object is added to the `metadata` of the reply's message or of the result.
   */
  readonly ofMessage?: ((reply: Response | undefined) => Readonly<Record<string, unknown>> | undefined) | undefined
  /** Called at the end of each step. The object is added to the `metadata` of the thread. */
  readonly ofThread?: (() => Readonly<Record<string, unknown>> | undefined) | undefined
}

/** How one step asks the model and runs its tool calls. */
export interface StepOptions {
  /** `"auto"` runs tool calls, `"manual"` leaves them to the caller. Default `"auto"`. */
  readonly mode?: "auto" | "manual" | undefined
  /** The name of the model. Default: the engine's, else that of the adapter. */
  readonly model?: string | undefined
  /** The system message of every request; it is not part of the thread. */
  readonly instructions?: string | undefined
  /**
   * Tools in addition to the engine's, also those of the provider: `{ type: "provider", id, name, args }`. A tool with the
   * same name replaces the engine's.
   */
  readonly tools?: ReadonlyArray<Tool | ProviderTool> | undefined
  /** Whether the model must call a tool, and which. Default: the provider's, which leaves it to the model. */
  readonly toolChoice?: ToolChoice | undefined
  /** The form of the answer: text, JSON, or a JSON Schema. Default: text. */
  readonly responseFormat?: ResponseFormat | undefined
  /**
   * The schema of the answer: a zod schema, any Standard Schema, or a JSON Schema object. It sets `responseFormat`, unless
   * that is given. `Chat.generate` and `Chat.run` then return the answer as `object`.
   */
  readonly schema?: Parameters | undefined
  /** The randomness of the reply, from 0 to 2. Default: the provider's. */
  readonly temperature?: number | undefined
  /** The most output tokens of one request. Default: the provider's. */
  readonly maxTokens?: number | undefined
  /** Parameters for the provider's body, overlaid on the engine's `params`. */
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined
  /** Options for the adapter itself, overlaid on the engine's. */
  readonly adapterOptions?: Readonly<Record<string, unknown>> | undefined
  /** Deadline of one tool call, counted from its start; a tool's own `timeoutMs` takes precedence. Default 30,000. */
  readonly toolTimeoutMs?: CallTimeout | undefined
  /**
   * How long a tool call may run without `progress`, counted from its start or its last `progress`. A tool's own
   * `idleTimeoutMs` takes precedence. Default `Infinity`.
   */
  readonly toolIdleTimeoutMs?: CallTimeout | undefined
  /**
   * How long the adapter may take to open a request, and to yield each event that is asked for, in milliseconds; `Infinity`
   * for no limit. Afterwards the request fails with an `AdapterError` (`timeout`), as if the adapter had thrown it: before
   * its first event it is retried by the `retry` policy. The timeout is never early, and at most an eighth late. Default
   * 300,000.
   */
  readonly streamIdleTimeoutMs?: number | undefined
  /**
   * The most characters of one reply: its text, reasoning and metadata, the names, arguments and metadata of its calls, and
   * 10 for each event; for its files see `maxFileBytes`. A larger reply ends its request with an `AdapterError` (`reply_too_large`). Default 4,000,000.
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
  /**
   * The most bytes of the images and files of one message: of a user, of a tool's result, of a reply. They do not count for
   * the bounds of text. A URL that the provider reads has no bytes. Beyond the bound, `send` throws a `ValidationError`
   * (`invalid_message`), a call fails with `result_too_large`, and a request with `reply_too_large`. Default 20,971,520.
   */
  readonly maxFileBytes?: number | undefined
  /** How long a cancelled call may take to end before its result is discarded, in milliseconds. Default 1,000. */
  readonly drainMs?: number | undefined
  /** How many tool calls run at once. Default twice the processors, at most the number of calls. */
  readonly maxConcurrency?: number | undefined
  /**
   * How many tool calls of one reply run: the first in call order. Each other call is `not_started`, with a `ToolError`
   * (`too_many_calls`), and the model reads the bound. `Infinity` is no bound. Default 128.
   */
  readonly maxCallsPerReply?: number | undefined
  /**
   * Keeps the requests of a long thread within a bound: `Compaction.make({ maxTokens })` of `@troupe/chat/compaction`. Default:
   * none, so that each request has the whole thread.
   */
  readonly compaction?: Compactor | undefined
  /** In which order the tool calls of a reply start. Default `"concurrent"`; in a live chat `"effects"`. */
  readonly schedule?: Schedule | undefined
  /** Which of several halts of one reply counts. Default `"call"`. */
  readonly haltOrder?: HaltOrder | undefined
  /** How a failed tool call is handled. Default `"continue"`. */
  readonly onToolError?: OnToolError | undefined
  /** How a call that reached a deadline is handled; replaces `onToolError` for that. Default: `onToolError` decides. */
  readonly onToolTimeout?: OnToolError | undefined
  /** Called with the results of handlers that end after their call was over (`Zombies`). Default: no call. */
  readonly onLateResult?: ((late: LateResult) => void) | undefined
  /**
   * A call of a tool that does not exist: `"error"` ends the step with an `unknown_tool` error, `"continue"` sends the
   * model a list of the tools. Default `"error"`; in a live chat `"continue"`.
   */
  readonly onUnknownTool?: "error" | "continue" | undefined
  /** Which calls may run, and which need a decision. Default: every call runs. */
  readonly permissions?: Permissions | undefined
  /** Functions that are called for events, and may change their outcome. Default: none. */
  readonly hooks?: Hooks | undefined
  /** How long one hook may take, in milliseconds; `Infinity` for no limit. Default 30,000. */
  readonly hookTimeoutMs?: number | undefined
  /** Calls the handlers in place of the engine's executor. Default: the engine's, which calls them in this program. */
  readonly toolExecutor?: ToolExecutor | undefined
  /** Makes the text that the model reads from a result. Default: the engine's, which makes JSON. */
  readonly toolResultEncoder?: ToolResultEncoder | undefined
  /** Passed to tool handlers; replaces the engine's. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Metadata of the host that is stored with the replies, the results and the thread. Default: none. */
  readonly storedMetadata?: StoredMetadata | undefined
  /** The id of the conversation, for handlers, hooks and spans. Default: none; in a live chat its id. */
  readonly sessionId?: string | undefined
  /** Default: a new random id, the same for all steps of a chat. */
  readonly requestId?: string | undefined
  /** `false` removes `text_delta` and `reasoning_delta` events. Default `true`. */
  readonly emitTextDeltas?: boolean | undefined
  /** `false` removes `tool_call_delta` events. Default `true`. */
  readonly emitToolDeltas?: boolean | undefined
  /** `true` keeps all `raw_chunk` events; usage always passes. Default `false`. */
  readonly includeRawChunks?: boolean | undefined
  /** The retry policy of a refused request; `false` for no retries. Default: the engine's, else `Retry.defaults`. */
  readonly retry?: RetryOptions | false | undefined
  /** Called before each wait of a retry. Its exceptions are rethrown to the reader, and end a live chat's process. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined
  /**
   * Called with every adapter event, before the filters. Its exceptions are rethrown to the reader, and end a live chat's
   * process.
   */
  readonly onEvent?: ((event: AdapterEvent) => void) | undefined
  /** Aborting the signal cancels the run: running tools are aborted and drained, and the result is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /**
   * The system that has its processes and its clock. Default: one system that all such calls share. In a system with a test
   * clock a run is the same each time, and does not wait for real time.
   */
  readonly system?: System.System | undefined
  /** Where spans are sent. Without it there is no tracing, at no cost. */
  readonly tracing?: Tracing | undefined
}

/** The options of a single model request: those of a step, without the options of running tools. */
export type GenerateOptions = Omit<
  StepOptions,
  | "mode"
  | "toolTimeoutMs"
  | "toolIdleTimeoutMs"
  | "onToolTimeout"
  | "onLateResult"
  | "maxConcurrency"
  | "maxCallsPerReply"
  | "compaction"
  | "schedule"
  | "haltOrder"
  | "onToolError"
  | "onUnknownTool"
  | "permissions"
  | "hooks"
  | "hookTimeoutMs"
  | "toolExecutor"
  | "toolResultEncoder"
  | "maxToolResultCharacters"
  | "maxFileBytes"
  | "context"
  | "storedMetadata"
>

/** Options with the schema of an answer of this type. */
export type Asking<Options, A> = Omit<Options, "schema"> & { readonly schema: Parameters<A> }

/** How a chat runs its steps until it waits for the user again. */
export interface ChatOptions extends StepOptions {
  /** The bound on model requests; `Infinity` is no bound. Default: the engine's `params.maxTurns`, else 8. */
  readonly maxTurns?: number | undefined
  /**
   * The stop condition: called after every step that would continue; `true` ends the chat with `halt_when`.
   *
   * **Contract**: synchronous; its exceptions are rethrown to the reader.
   */
  readonly haltWhen?: ((step: StepResult) => boolean) | undefined
  /**
   * Bounds beside `maxTurns`.
   *
   * **Details**: tokens and cost are checked after each step that would continue, so one step may exceed them; the turn
   * ends with `budget_tokens` or `budget_cost`. When the time is over, the running step is cancelled, and the turn ends
   * with `budget_time`, within the drain deadline. A final answer is `completed` in any case.
   */
  readonly budget?: Budget | undefined
  /**
   * How many replies in a row whose calls all failed end the turn with `consecutive_mistakes`; 0 for no bound. Default 0;
   * in a live chat 3.
   *
   * **Details**: a crash, a timeout, a refusal, wrong arguments and a tool that does not exist count alike, once for a
   * reply, however many of its calls failed. A reply with a successful call resets the count, and so does a user message.
   */
  readonly maxMistakes?: number | undefined
  /**
   * How many replies in a row that change nothing end the turn with `no_progress`; 0 for no bound. Default 0; in a live
   * chat 3.
   *
   * **Details**: a reply changes nothing if it has the same calls and results as the reply before, in any order, and no new
   * text.
   */
  readonly maxUnproductive?: number | undefined
  /**
   * Two passes: the loop runs without `responseFormat`, then one more request without tools asks for the answer in that
   * form, a JSON Schema. `maxTurns` does not count the second pass. Default `false`.
   *
   * **Details**: the second pass follows only a first pass that ended with `completed`, `max_turns` or `halt_when`;
   * `metadata.structuredFinalize.pass1Halted` of the result has that reason. In a live chat, an input has one pass if neither
   * it nor the Troupe has a JSON Schema.
   */
  readonly structuredFinalize?: boolean | undefined
  /** The user message before the second pass; `""` for none. Default "Now provide your final structured response." */
  readonly structuredFinalizeNudge?: string | undefined
}

/**
 * The options that one turn of a live chat may have for itself.
 *
 * **Details**: `tools` are in addition to those of the Troupe; `instructions` follow those of the Troupe; `providerOptions`
 * and `context` are overlaid on those of the Troupe. The others replace the Troupe's. They are not stored: after a restart of
 * the program, an input that waited runs with the options of the Troupe.
 */
export type TurnOptions = Pick<
  ChatOptions,
  | "model"
  | "instructions"
  | "tools"
  | "toolChoice"
  | "responseFormat"
  | "temperature"
  | "maxTokens"
  | "providerOptions"
  | "context"
  | "storedMetadata"
  | "maxTurns"
  | "includeRawChunks"
  | "structuredFinalize"
  | "structuredFinalizeNudge"
>

/**
 * What a turn may use before it must stop sending requests. By default none has a bound.
 *
 * **Details**: a request with tokens and without a known cost uses up `cost`; `metadata.unpriced` of the result names its model.
 */
export interface Budget {
  /** The reported tokens of all requests of the turn, prompts included. */
  readonly tokens?: number | undefined
  /** The cost of the turn, in the currency of the engine's `prices`. */
  readonly cost?: number | undefined
  /** The milliseconds since the turn began. */
  readonly timeMs?: number | undefined
}

/**
 * In which order the tool calls of a reply start. Results are always in call order.
 *
 * - `"concurrent"`: all at once; a halt skips no call
 * - `"effects"`: a call waits for earlier calls that it conflicts with: one of the two writes, and they have the same key,
 *   or one has none. After a halt no call starts
 * - `"reference"`: first the calls that are not reads, one after another, then all reads at once. After a halt no call
 *   starts
 */
export type Schedule = "concurrent" | "effects" | "reference"

/**
 * Which of several halts of one reply counts: halts of handlers, questions and policies.
 *
 * - `"call"`: the first in call order
 * - `"observed"`: the first in time, as the calls end
 */
export type HaltOrder = "call" | "observed"
