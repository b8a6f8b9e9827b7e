/**
 * The events of a step and of a chat: one closed union of sixteen tags.
 *
 * **Order**: all adapter events of a step, then for each executed call its three tool events together, in completion
 * order, then exactly one `step_completed`; after the last step of a chat exactly one `chat_completed`.
 *
 * @module
 * @source ALLM.Chat, "Event sequence"
 */
import type { ChatResult } from "./ChatResult.ts"
import type { HandlerResult, QuestionOptions } from "./HandlerResult.ts"
import type { AssistantMessage } from "./Message.ts"
import type { FinishReason, Response } from "./Response.ts"
import type { StepHalt } from "./StepResult.ts"
import type { Thread } from "./Thread.ts"
import type { ToolCall } from "./ToolCall.ts"
import type { Usage } from "./Usage.ts"

/** First event of every adapter stream. */
export interface MessageStarted {
  readonly type: "message_started"
  readonly message: AssistantMessage
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
/** A fragment of the answer. */
export interface TextDelta {
  readonly type: "text_delta"
  readonly id: string | null
  readonly delta: string
}
/** The whole answer text, once, before `message_completed`, when there was any. */
export interface TextCompleted {
  readonly type: "text_completed"
  readonly id: string | null
  readonly text: string
}
/** The model begins a tool call. */
export interface ToolCallStarted {
  readonly type: "tool_call_started"
  readonly id: string
  readonly name: string
}
/** A fragment of a call's argument text. */
export interface ToolCallDelta {
  readonly type: "tool_call_delta"
  readonly id: string
  readonly argumentsDelta: string
}
/** A call is complete. `arguments` is `null` when the text is not a JSON object. */
export interface ToolCallCompleted {
  readonly type: "tool_call_completed"
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown> | null
  readonly rawArguments: string
  readonly metadata?: Record<string, unknown> | undefined
}
/** First of a call's three tool events; all three come together when the call is done. */
export interface ToolExecutionStarted {
  readonly type: "tool_execution_started"
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown> | null
}
/** Second: what the handler returned, or the `ToolError` that stands for it. */
export interface ToolExecutionCompleted {
  readonly type: "tool_execution_completed"
  readonly id: string
  readonly name: string
  readonly result: HandlerResult
}
/** Third, normally: the text the model will see. */
export interface ToolResultEncoded {
  readonly type: "tool_result_encoded"
  readonly id: string
  readonly content: string
}
/** Third, when the handler asked the user. */
export interface AskUserRequested {
  readonly type: "ask_user_requested"
  readonly toolCallId: string
  readonly toolName: string
  readonly question: string
  readonly options: QuestionOptions
}
/** Third, when the handler or the error policy ended the loop. */
export interface ToolHalt {
  readonly type: "tool_halt"
  readonly toolCallId: string
  readonly reason: string
  readonly result: unknown
  readonly content: string
}
/** Last event of an adapter stream. */
export interface MessageCompleted {
  readonly type: "message_completed"
  readonly message: AssistantMessage
  readonly finishReason: FinishReason | null
  readonly rawFinishReason?: string | undefined
  readonly usage?: Usage | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
/**
 * Last event of a step. `thread` is the input, the assistant message and the tool messages, `mode` the option of that name,
 * `halt` why the step ends the loop (of several halts the one that counts), `error` what went wrong in the step itself.
 */
export interface StepCompleted {
  readonly type: "step_completed"
  readonly response: Response
  readonly thread: Thread
  readonly mode: "auto" | "manual"
  readonly manualToolCalls: ReadonlyArray<ToolCall>
  readonly halt?: StepHalt | undefined
  readonly error?: unknown
}
/** Last event of a chat. */
export interface ChatCompleted {
  readonly type: "chat_completed"
  readonly result: ChatResult
}
/** Something of the provider's own: reasoning, sources, raw chunks; usage as `{ type: "usage", usage }`. */
export interface RawChunk {
  readonly type: "raw_chunk"
  readonly chunk: unknown
}
/** A failure after the stream opened. It does not end the stream: keep reading. */
export interface ErrorEvent {
  readonly type: "error"
  readonly error: unknown
}

/** What an adapter emits. */
export type AdapterEvent =
  | MessageStarted
  | TextDelta
  | TextCompleted
  | ToolCallStarted
  | ToolCallDelta
  | ToolCallCompleted
  | MessageCompleted
  | RawChunk
  | ErrorEvent

/** What a running tool batch emits. */
export type ToolEvent = ToolExecutionStarted | ToolExecutionCompleted | ToolResultEncoded | AskUserRequested | ToolHalt

/** Every event of a chat. */
export type Event = AdapterEvent | ToolEvent | StepCompleted | ChatCompleted

/** The sixteen tags. */
export const tags: ReadonlyArray<Event["type"]> = Object.freeze([
  "message_started",
  "text_delta",
  "text_completed",
  "tool_call_started",
  "tool_call_delta",
  "tool_call_completed",
  "tool_execution_started",
  "tool_execution_completed",
  "tool_result_encoded",
  "ask_user_requested",
  "tool_halt",
  "message_completed",
  "step_completed",
  "chat_completed",
  "raw_chunk",
  "error"
])

const known: ReadonlySet<unknown> = new Set(tags)

/** Whether a value carries one of the sixteen tags. Payloads are not checked. */
export const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && known.has((value as { readonly type?: unknown }).type)
