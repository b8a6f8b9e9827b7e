/**
 * The events of a step and of a chat: one closed union of twenty tags, the fifth version of it. The first had sixteen, which
 * keep their meaning, and neither `reasoning_delta` nor `child_event` nor `request_delayed` nor `thread_compacted`.
 *
 * **Order**: all adapter events of a step, then for each executed call its three tool events together, in completion
 * order, then exactly one `step_completed`; after the last step of a chat exactly one `chat_completed`. The events of the child
 * of a call come between the adapter events and the tool events of that call.
 *
 * @module
 * @source ALLM.Chat, "Event sequence"
 */
import * as z from "zod"
import { ChatResult, PendingApproval, StepHalt } from "../record/index.ts"
import { anything, HandlerResult, openRecord, QuestionOptions } from "../values/index.ts"
import {
  AssistantMessage,
  Compaction,
  ContentPart,
  FinishReason,
  Outcome,
  Response,
  Thread,
  ToolCall,
  Usage
} from "../model/index.ts"

/** First event of every adapter stream. */
export const MessageStarted = z.lazy(() =>
  z
    .object({ type: z.literal("message_started"), message: AssistantMessage, metadata: openRecord.optional() })
    .readonly()
)
export type MessageStarted = z.infer<typeof MessageStarted>

/** A fragment of the answer. */
export const TextDelta = z.lazy(() =>
  z.object({ type: z.literal("text_delta"), id: z.string().nullable(), delta: z.string() }).readonly()
)
export type TextDelta = z.infer<typeof TextDelta>

/** A fragment of the model's reasoning; `id` is the block it belongs to. The message of the reply has the reasoning as parts. */
export const ReasoningDelta = z.lazy(() =>
  z.object({ type: z.literal("reasoning_delta"), id: z.string().nullable(), delta: z.string() }).readonly()
)
export type ReasoningDelta = z.infer<typeof ReasoningDelta>

/** The whole answer text, once, before `message_completed`, when there was any. */
const TextCompleted = z.lazy(() =>
  z.object({ type: z.literal("text_completed"), id: z.string().nullable(), text: z.string() }).readonly()
)
type TextCompleted = z.infer<typeof TextCompleted>

/** The model begins a tool call. */
const ToolCallStarted = z.lazy(() =>
  z.object({ type: z.literal("tool_call_started"), id: z.string(), name: z.string() }).readonly()
)
type ToolCallStarted = z.infer<typeof ToolCallStarted>

/** A fragment of a call's argument text. */
export const ToolCallDelta = z.lazy(() =>
  z.object({ type: z.literal("tool_call_delta"), id: z.string(), argumentsDelta: z.string() }).readonly()
)
export type ToolCallDelta = z.infer<typeof ToolCallDelta>

/** A call is complete. `arguments` is `null` when the text is not a JSON object, or because of `problem`. */
export const ToolCallCompleted = z.lazy(() =>
  z
    .object({
      type: z.literal("tool_call_completed"),
      id: z.string(),
      name: z.string(),
      arguments: openRecord.nullable(),
      rawArguments: z.string(),
      problem: z.string().optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)
export type ToolCallCompleted = z.infer<typeof ToolCallCompleted>

/** First of a call's three tool events; all three come together when the call is done. */
const ToolExecutionStarted = z.lazy(() =>
  z
    .object({
      type: z.literal("tool_execution_started"),
      id: z.string(),
      name: z.string(),
      arguments: openRecord.nullable()
    })
    .readonly()
)
type ToolExecutionStarted = z.infer<typeof ToolExecutionStarted>

/** Second: the result of the handler, or a `ToolError` in its place; and the outcome of the call. */
const ToolExecutionCompleted = z.lazy(() =>
  z
    .object({
      type: z.literal("tool_execution_completed"),
      id: z.string(),
      name: z.string(),
      result: HandlerResult,
      outcome: Outcome
    })
    .readonly()
)
type ToolExecutionCompleted = z.infer<typeof ToolExecutionCompleted>

/** The parts of a result that has them; `content` is their text. */
const parts = z.array(ContentPart).readonly().optional()

/** Third, normally: the text for the model, and the parts of a result that has parts. */
const ToolResultEncoded = z.lazy(() =>
  z.object({ type: z.literal("tool_result_encoded"), id: z.string(), content: z.string(), parts }).readonly()
)
type ToolResultEncoded = z.infer<typeof ToolResultEncoded>

/** Third, when the handler asked the user. */
const AskUserRequested = z.lazy(() =>
  z
    .object({
      type: z.literal("ask_user_requested"),
      toolCallId: z.string(),
      toolName: z.string(),
      question: z.string(),
      options: QuestionOptions
    })
    .readonly()
)
type AskUserRequested = z.infer<typeof AskUserRequested>

/** Third, when the handler or the error policy ended the loop. */
const ToolHalt = z.lazy(() =>
  z
    .object({
      type: z.literal("tool_halt"),
      toolCallId: z.string(),
      reason: z.string(),
      result: anything,
      content: z.string(),
      parts
    })
    .readonly()
)
type ToolHalt = z.infer<typeof ToolHalt>

/** Last event of an adapter stream. */
export const MessageCompleted = z.lazy(() =>
  z
    .object({
      type: z.literal("message_completed"),
      message: AssistantMessage,
      finishReason: FinishReason.nullable(),
      rawFinishReason: z.string().optional(),
      usage: Usage.optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)
export type MessageCompleted = z.infer<typeof MessageCompleted>

/**
 * Last event of a step. `thread` is the input, the assistant message and the tool messages; `mode` is the option of that
 * name; `halt` is the reason why the step ends the loop; `error` is the failure of the step itself.
 */
const StepCompleted = z.lazy(() =>
  z
    .object({
      type: z.literal("step_completed"),
      response: Response,
      thread: Thread,
      mode: z.enum(["auto", "manual"]),
      manualToolCalls: z.array(ToolCall).readonly(),
      pendingApprovals: z.array(PendingApproval).readonly().optional(),
      halt: StepHalt.optional(),
      error: z.unknown().exactOptional()
    })
    .readonly()
)
type StepCompleted = z.infer<typeof StepCompleted>

/** Last event of a chat. */
const ChatCompleted = z.lazy(() => z.object({ type: z.literal("chat_completed"), result: ChatResult }).readonly())
type ChatCompleted = z.infer<typeof ChatCompleted>

/** A provider-specific chunk: sources, files, raw chunks; usage as `{ type: "usage", usage }`. */
const RawChunk = z.lazy(() => z.object({ type: z.literal("raw_chunk"), chunk: anything }).readonly())
type RawChunk = z.infer<typeof RawChunk>

/** A failure after the stream opened. It does not end the stream: keep reading. */
export const ErrorEvent = z.lazy(() => z.object({ type: z.literal("error"), error: anything }).readonly())
export type ErrorEvent = z.infer<typeof ErrorEvent>

/**
 * An event of a child, the chat of a sub-agent, while its call runs. `toolCallId` is the call, `chat` and `agent` are those of the
 * child, and the events of the child's own children are nested likewise. Only with `events: true` of the sub-agent.
 */
interface ChildEvent {
  readonly type: "child_event"
  readonly toolCallId: string
  readonly chat: string
  readonly agent: string
  readonly event: Event
}
const ChildEvent = z.lazy(() =>
  z
    .object({
      type: z.literal("child_event"),
      toolCallId: z.string(),
      chat: z.string(),
      agent: z.string(),
      event: z.lazy((): z.ZodType<Event> => Event)
    })
    .readonly()
)

/**
 * The request waits more than a second before it is sent again (RETRY5). Comes before the events of the adapter.
 *
 * **Units**: `waitMs` is the whole wait, and `retryAt` its end on the system's clock, both in whole milliseconds. `attempt` is
 * the attempt that failed, counted from 1, and `reason` that of its `AdapterError`.
 */
const RequestDelayed = z.lazy(() =>
  z
    .object({
      type: z.literal("request_delayed"),
      waitMs: z.number(),
      retryAt: z.number(),
      attempt: z.number(),
      adapter: z.string(),
      reason: z.string()
    })
    .readonly()
)
export type RequestDelayed = z.infer<typeof RequestDelayed>

/** Requests have a summary in place of the first messages from now on. Comes before the events of the adapter. */
const ThreadCompacted = z.lazy(() =>
  z.object({ type: z.literal("thread_compacted"), compaction: Compaction }).readonly()
)
type ThreadCompacted = z.infer<typeof ThreadCompacted>

/** What an adapter yields: the parts of a reply as they arrive, and one `message_completed` at its end. */
export type AdapterEvent =
  | MessageStarted
  | TextDelta
  | TextCompleted
  | ReasoningDelta
  | ToolCallStarted
  | ToolCallDelta
  | ToolCallCompleted
  | MessageCompleted
  | RawChunk
  | ErrorEvent
const adapterEventSchema = z.discriminatedUnion("type", [
  MessageStarted,
  TextDelta,
  TextCompleted,
  ReasoningDelta,
  ToolCallStarted,
  ToolCallDelta,
  ToolCallCompleted,
  MessageCompleted,
  RawChunk,
  ErrorEvent
])
export const AdapterEvent: z.ZodType<AdapterEvent> = adapterEventSchema

/** The events of a tool batch. */
export type ToolEvent = ToolExecutionStarted | ToolExecutionCompleted | ToolResultEncoded | AskUserRequested | ToolHalt
const toolEventSchema = z.discriminatedUnion("type", [
  ToolExecutionStarted,
  ToolExecutionCompleted,
  ToolResultEncoded,
  AskUserRequested,
  ToolHalt
])
export const ToolEvent: z.ZodType<ToolEvent> = toolEventSchema

/**
 * Every event of a chat.
 *
 * **Details**: `Event.version` is the version of this union. A new version only adds tags: a reader ignores an event whose tag
 * it does not handle, as `StreamCollector` does. `reasoning_delta` came with version 2, `child_event` with version 3,
 * `request_delayed` with version 4, and `thread_compacted` with version 5.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Event } from "@troupe/chat/events"
 *
 * Event.version // => 5
 * ```
 */
export const Event = Object.assign(
  z.discriminatedUnion("type", [
    RequestDelayed,
    ThreadCompacted,
    adapterEventSchema,
    toolEventSchema,
    ChildEvent,
    StepCompleted,
    ChatCompleted
  ]),
  { version: 5 as const }
)
export type Event =
  | RequestDelayed
  | ThreadCompacted
  | AdapterEvent
  | ToolEvent
  | ChildEvent
  | StepCompleted
  | ChatCompleted

/** All tags. */
export const tags: ReadonlyArray<Event["type"]> = Object.freeze([
  "request_delayed",
  "thread_compacted",
  "message_started",
  "text_delta",
  "text_completed",
  "reasoning_delta",
  "tool_call_started",
  "tool_call_delta",
  "tool_call_completed",
  "tool_execution_started",
  "tool_execution_completed",
  "tool_result_encoded",
  "ask_user_requested",
  "tool_halt",
  "child_event",
  "message_completed",
  "step_completed",
  "chat_completed",
  "raw_chunk",
  "error"
])

const known: ReadonlySet<unknown> = new Set(tags)

/** Whether a value has one of the tags. Payloads are not checked; {@link Event} checks them. */
export const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && known.has((value as { readonly type?: unknown }).type)
