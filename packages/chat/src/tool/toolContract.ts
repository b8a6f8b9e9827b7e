/** The types of tools, handlers, executors and engines, in one file because they refer to each other. */

import type { StandardSchemaV1 } from "@standard-schema/spec"
import type * as Effect from "effect/Effect"
import type { AnySpan } from "effect/Tracer"
import type { Adapter, Fallback, Prices, RetryOptions } from "../adapter/index.ts"
import type { ToolResultEncoder } from "../values/index.ts"
import type { Answered, PersonQuestion, Returned } from "./Returned.ts"
import type { Memory } from "../compaction/index.ts"
import type { Message, ToolCall, Usage } from "../model/index.ts"
import type { AgentRef, Mode, Receipt, SendOptions, UserInput } from "../record/index.ts"

/** The second argument of a handler. */
export interface ToolContext {
  /** The `context` of the options, else that of the engine; a session with a context has its own. */
  readonly context: Readonly<Record<string, unknown>>
  /** The id of the conversation; `undefined` without one. */
  readonly sessionId: string | undefined
  /** The id of the run, the same for all steps of a turn. */
  readonly requestId: string | undefined
  /** The call as the model wrote it, or as it was permitted; a copy, as the arguments are. */
  readonly toolCall: ToolCall
  /** The engine of the call, with the tools of the call. */
  readonly engine?: Engine | undefined
  /**
   * Aborted when the call times out, is cancelled or its process ends. After the end of the call the handler's result is
   * discarded.
   */
  readonly signal: AbortSignal
  /**
   * Reports the progress of the call. The last value is in the chat's snapshot (`ToolCallView.progress`), uncopied, and the idle
   * deadline restarts.
   */
  readonly progress: (value: unknown) => void
  /**
   * The same for every run of this call, after a restart too. No other call has it, even if call ids repeat, and after a rewind,
   * a retry or a fork. Pass it to services that support idempotency keys.
   */
  readonly idempotencyKey: string
  /**
   * Sets the permission mode of calls from the next batch on; of several calls the last in call order decides. A mode within the
   * host's limit needs no approval. For a looser mode the promise resolves once `ask` of the permissions has agreed; the call's
   * deadlines pause meanwhile.
   *
   * **Errors**: rejects with a `ToolError` (`denied`) when `ask` did not agree, or there is no `ask`, and with a
   * `ValidationError` for an unknown mode.
   */
  readonly setPermissionMode: (mode: Mode) => Promise<void>
  /** The live chat of the call; `undefined` without one. */
  readonly chat?: ChatHandle | undefined
}

/**
 * The live chat of a tool call, as its handler can use it.
 *
 * **Units and defaults**: `whenBusy` is `"steer"`: the input joins the running turn after the results of this batch.
 *
 * **Errors**: `send` throws as `ChatRef.send` does. Once the call is over it sends nothing, and rejects with a `ToolError`
 * (`cancelled`).
 */
export interface ChatHandle {
  readonly id: string
  /** Sends an input as the user would; resolves with its first receipt, as soon as the input is stored or rejected. */
  readonly send: (input: UserInput, options?: SendOptions) => Promise<Receipt>
  /**
   * The bytes of an image or a file that a message of the chat refers to (`{ blob, bytes }`), as `troupe.blob` returns them; `undefined` for
   * an unknown id. Only a chat of a Troupe has it.
   */
  readonly blob?: ((blob: string) => Promise<Uint8Array | undefined>) | undefined
  /** The messages of the chat, and a search in stored messages; only a chat of a Troupe has it. */
  readonly past?: ChatPast | undefined
  /**
   * Asks a person: return what it returns. The call is suspended until every question is decided, and then runs again, with
   * {@link ChatHandle.answered}. A task with `afterMs` cannot ask.
   *
   * **Details**: a question is a wait like that of a sub-agent. `chat.approve(address, decision)` decides: `result` answers, `deny` does not,
   * and `halt` ends the turn. Its `options` are for the user interface; an answer must fit a JSON Schema in `options.schema`. `state` is
   * plain JSON that the next run of the call gets back. `dropped` is called when the call ends without another run, for example by a cancel
   * of its turn, to end what the call has left open elsewhere; not after a restart of the program, nor in the chat of a sub-agent.
   *
   * **Errors**: rejects with a `ToolError` (`invalid_return`) for no question or more than 100, two of one id, options of more than 16,000
   * characters as JSON, or a state of more than 200,000.
   */
  readonly waitFor?:
    | ((questions: ReadonlyArray<PersonQuestion>, state?: unknown, dropped?: () => void) => Promise<Returned>)
    | undefined
  /** The decisions about the questions of this call, when it runs again with them. */
  readonly answered?: Answered | undefined
  /** The background tasks of the chat; only a chat of a Troupe has them. */
  readonly tasks?: ChatTasks | undefined
  /** The memories of the scope of the chat; only a chat of a Troupe whose store keeps memories has them. */
  readonly memories?: ChatMemories | undefined
  /**
   * The reason for which the call may send no model request of its own: the limit of the chat, or of one above it, that is used up.
   * `undefined` if it may. `more` is usage that no count has yet. Only a chat of a Troupe has it, and not a background task.
   */
  readonly exhausted?: ((more?: Usage) => string | undefined) | undefined
  /** Counts a model request that the handler has sent, as one of a sub-agent: for the chat, its budget, and those of the chats above. */
  readonly count?: ((usage: Usage) => void) | undefined
  /** Runs a child chat, for the tools of sub-agents; only a chat of a Troupe can. */
  readonly subagent?: ((call: SubagentCall) => Promise<Returned>) | undefined
  /** Sends a message to another agent, for the tools of messages and questions; only a chat of a Troupe with agents can. */
  readonly message?: ((call: AgentMessage) => Promise<Returned>) | undefined
  /** The board of the team of the chat; only a chat of a Troupe with agents has it. */
  readonly board?: ChatBoard | undefined
  /** Runs the work of a call as a background task, for tools with `background`; only a chat of a Troupe can. */
  readonly background?: ((call: BackgroundCall) => Awaitable<Returned>) | undefined
}

/** Everything that was said in a chat, and in others of the same store. */
export interface ChatPast {
  /** Every message of the chat, also those that requests leave out. */
  readonly messages: () => ReadonlyArray<Message>
  /** Stored messages with words of the query: of this chat, or of all whose ids begin with `prefix`. */
  readonly search: (
    query: string,
    options: { readonly limit: number; readonly prefix?: string | undefined }
  ) => Promise<ReadonlyArray<{ readonly chat: string; readonly place: number; readonly message: Message }>>
}

/** The background tasks of a chat. */
export interface ChatTasks {
  /** The tasks whose end the thread does not have; `seconds` is how long ago a task began. */
  readonly list: () => ReadonlyArray<{
    readonly task: string
    readonly tool: string
    readonly status: string
    readonly seconds: number
  }>
  /** Cancels a task; resolves when its work has ended. Rejects with a `SessionError` (`unknown_task`) for any other id. */
  readonly cancel: (task: string) => Promise<void>
  /**
   * Resolves at the first end of a task (`ended`), when an input waits for the chat (`message`), when the time is over (`time`), or when the
   * signal is aborted (`cancelled`); at once with `none` without a task.
   */
  readonly wait: (options: {
    readonly seconds: number
    readonly signal: AbortSignal
  }) => Promise<"ended" | "message" | "time" | "cancelled" | "none">
}

/** The memories that a chat can use, of one scope. */
export interface ChatMemories {
  /** The first input of the running turn, whose end stores what its calls remember. */
  readonly turn: () => string | undefined
  /** The memories that fit a query, the best first. */
  readonly recall: (query: string, limit: number) => Promise<ReadonlyArray<Memory>>
}

/** The board of a team. Without a team, and when it is full, a write or a read is `refused`. */
interface ChatBoard {
  /** Writes a post, once for each `key`; resolves with its number when it is stored. */
  readonly write: (text: string, key: string) => Promise<{ readonly post: number } | BoardRefusal>
  /** The posts after this number, some at a time. */
  readonly read: (after: number) => Promise<BoardPosts | BoardRefusal>
}

/** Posts of a board: `next` is the number to read on from, and `last` that of the last post. */
export interface BoardPosts {
  readonly posts: ReadonlyArray<{ readonly post: number; readonly from: string; readonly text: string }>
  readonly next: number
  readonly last: number
}

/** Why a board is not written or read, with the text for the model. */
export interface BoardRefusal {
  readonly refused: "board_full" | "too_long" | "no_team"
  readonly message: string
}

/** A call whose work can become a background task; `key` is the call's idempotency key. */
export interface BackgroundCall extends Pick<ToolContext, "toolCall" | "signal" | "progress"> {
  readonly key: string
  /** The tool of the call, if it is not that of the chat's options. */
  readonly tool?: Tool | undefined
}

/** A call of a tool that starts an agent as a sub-agent; `key` is the call's idempotency key. */
export interface SubagentCall extends Pick<ToolContext, "toolCall" | "signal" | "progress"> {
  readonly agent: string
  readonly input: string
  /** The short id of the child that gets the input. Without it a child begins. */
  readonly child?: string | undefined
  /** Whether the child is the chat of this agent in the team of the chat. */
  readonly isMember?: boolean | undefined
  /** The input of the child that an earlier call gave it: this call goes on with the tasks that it began. */
  readonly follows?: { readonly input: string; readonly counted: Usage } | undefined
  readonly key: string
  readonly maxDepth: number
  readonly maxChildren: number
  /** Whether the stream of the parent has the events of the child. */
  readonly events: boolean
  readonly span?: AnySpan | undefined
}

/** A message of an agent to another one, for the tools of messages and questions; `key` is the call's idempotency key. */
export interface AgentMessage extends Pick<ToolContext, "toolCall" | "signal" | "progress"> {
  readonly kind: "tell" | "ask"
  /** The name that the model uses: an id, the name of an agent, or `parent`. */
  readonly to: string
  readonly text: string
  readonly key: string
  /** Whom the tool may address. */
  readonly allowed: ReadonlyArray<string>
  readonly whenBusy: "steer" | "queue"
  readonly span?: AnySpan | undefined
}

/** A value, a promise of it, or an Effect of it. */
export type Awaitable<A> = A | PromiseLike<A> | Effect.Effect<A, unknown>

/**
 * Runs a tool.
 *
 * **Contract**: return one of the four outcomes. A throw is caught and becomes a `handler_raised` tool error; any other
 * return value becomes `invalid_return`.
 */
export type Handler = (args: Record<string, unknown>, context: ToolContext) => Awaitable<Returned>

/** The parsed arguments, or their issues. */
export type ParsedArguments =
  | { readonly valid: true; readonly arguments: Record<string, unknown> }
  | { readonly valid: false; readonly issues: ReadonlyArray<{ readonly path: string; readonly message: string }> }

/** A tool, as `tool` and `Tool.make` make it. */
export interface Tool {
  /** The name that the model calls. */
  readonly name: string
  /** What the tool does, for the model. */
  readonly description: string
  /** The JSON Schema of the arguments, for the model. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Runs a call; `null` for a tool that is only declared. */
  readonly handler: Handler | null
  /** Checks the arguments of a call, and returns them as the handler gets them, or the findings. */
  readonly parse: (args: Record<string, unknown>) => ParsedArguments | PromiseLike<ParsedArguments>
  /** Whether the caller answers the calls. */
  readonly manual: boolean
  /** The deadline of one call in milliseconds; `undefined` for the `toolTimeoutMs` of the step. */
  readonly timeoutMs: number | undefined
  /** How long one call may go without `progress`, in milliseconds; `undefined` for the `toolIdleTimeoutMs` of the step. */
  readonly idleTimeoutMs?: number | undefined
  /** The program's own data about the tool. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Whether the calls change something. */
  readonly effect: "read" | "write"
  /** Names the resource that a call uses; calls with different keys never conflict. */
  readonly key: ((args: Record<string, unknown>) => string | undefined) | undefined
  /** How a call is handled that may have run when the program ended. */
  readonly onUnknown: OnUnknown
  /** The declaration of a provider's tool that the model gets in place of `description` and `schema`. */
  readonly provider?: ProviderToolPart | undefined
  /** When a call becomes a background task. */
  readonly background?: { readonly afterMs: number; readonly handler: Handler } | undefined
  /** Whether a call waits for a person. */
  readonly needsApproval?: boolean | ((args: Readonly<Record<string, unknown>>) => boolean) | undefined
  /** Whether a model has to find the tool, and in which group its name is listed. */
  readonly deferred?: true | { readonly group: string } | undefined
  /** Where the tool comes from, if its list can change. */
  readonly origin?: ToolOrigin | undefined
  /** The agent to whom a completed call hands the conversation over; the tools of `handoffs` have it. */
  readonly handoff?: AgentRef | undefined
  /** The name of the agent that a call starts as a sub-agent; the tools of `Agents.subagent` have it. */
  readonly subagent?: string | undefined
  /** Whom a message of the tool may address; the tools of `Agents.message` and `Agents.ask` have it. */
  readonly addresses?: ReadonlyArray<string> | undefined
}

/**
 * Returns the tools of a list that changes while chats run, such as that of an MCP server: `listed` when the list was read, and `current`,
 * the same array until the tools change.
 *
 * **Details**: from the next request on a live chat has the tools of `current` in place of `listed`, if its options have all of `listed`
 * unchanged. A list without one of them, or with a copy of one, gets no other tools.
 */
export type ToolOrigin = () => { readonly listed: ReadonlyArray<Tool>; readonly current: ReadonlyArray<Tool> }

/** The id and the settings of a provider's tool. */
export interface ProviderToolPart {
  /** The provider, a dot, and its tool: `"openai.web_search"`. */
  readonly id: string
  /** The settings of the tool, by the provider's documentation. */
  readonly args: Readonly<Record<string, unknown>>
}

/**
 * A tool that the provider declares: web search, code execution, file search, computer use.
 *
 * **Details**: `args` are the settings of the tool, by default none. The caller answers calls that the provider does not run
 * itself, or a handler does: `tool({ name, provider: { id, args }, execute })`.
 */
export interface ProviderTool {
  readonly type: "provider"
  readonly id: string
  readonly name: string
  readonly args?: Readonly<Record<string, unknown>> | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/**
 * How a call that writes is handled when the program ended while it ran, so that its outcome is unknown.
 *
 * - `ask`: the chat waits for the decision of a person
 * - `fail`: the model reads that the outcome is unknown
 * - `retry`: it runs again under the same idempotency key when the chat continues; for handlers that are safe to repeat
 */
export type OnUnknown = "ask" | "fail" | "retry"

/** The schema of the arguments: a zod schema, any Standard Schema, or a JSON Schema object. */
export type Parameters<A = unknown> = StandardSchemaV1<unknown, A> | Readonly<Record<string, unknown>>

/** The port that runs handlers. */
export interface ToolExecutor {
  /**
   * Calls the tool's handler with these arguments and this context, unchanged, and returns one of the four outcomes.
   *
   * **Contract**: return a handler's outcome unchanged; convert only exceptions and invalid returns. Look nothing up, set no
   * deadline, retry nothing.
   */
  readonly execute: (tool: Tool, args: Record<string, unknown>, context: ToolContext) => Awaitable<Returned>
}

/** The inputs of a step beside the thread; `Engine.make` makes an engine. */
export interface Engine {
  /** Sends requests to the model; without it the first request fails. */
  readonly adapter?: Adapter | undefined
  /** Further adapters, in order, for a request that the adapter refuses. */
  readonly fallbacks?: ReadonlyArray<Adapter | Fallback> | undefined
  /** The retry policy of a refused request; `false` is no retries. */
  readonly retry?: RetryOptions | false | undefined
  /** Returns the cost of a request from its model and usage. */
  readonly prices?: Prices | undefined
  /** The model name, for adapters that serve several. */
  readonly model?: string | undefined
  /** The tools of the model. */
  readonly tools: ReadonlyArray<Tool>
  /** Calls the handlers. */
  readonly toolExecutor?: ToolExecutor | undefined
  /** Makes the text that the model reads from a result. */
  readonly toolResultEncoder?: ToolResultEncoder | undefined
  /** Defaults for `temperature`, `maxTokens`, `maxTurns` and the provider's own parameters. */
  readonly params: Readonly<Record<string, unknown>>
  /** Passed to every tool handler. */
  readonly context: Readonly<Record<string, unknown>>
  /** Passed to the adapter, overlaid by those of the call. */
  readonly adapterOptions: Readonly<Record<string, unknown>>
  /** The program's own data. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
