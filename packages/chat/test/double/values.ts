/** Random values of every type that has a JSON form. */
import { Arbitrary } from "effect"
import type { TypeName, Types } from "../../src/session/codecTable.ts"
import * as Engine from "../../src/options/Engine.ts"
import { type Event, tags } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { Decision, PendingApproval } from "../../src/record/Approval.ts"
import type { InboxEntry } from "../../src/record/Inbox.ts"
import type { AssistantPart } from "../../src/model/messageShapes.ts"
import { Outcome } from "../../src/model/Outcome.ts"
import { FinishReason } from "../../src/model/Response.ts"
import { make } from "../../src/tool/Tool.ts"
import {
  anything,
  choice,
  count,
  errorsOf,
  fields,
  flag,
  type Gen,
  list,
  mapOf,
  oneOf,
  outcomeOf,
  text,
  valueOf
} from "./arbitrary.ts"
import type { OpenStep } from "../../src/record/Conversation.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import { ConversationStatus } from "../../src/record/Conversation.ts"

const metadata: Gen<Record<string, unknown>> = mapOf(anything)
const errors = errorsOf(valueOf(1))

const contentPart: Gen<Types["ContentPart"]> = choice<Types["ContentPart"]>(
  fields({ type: oneOf("text"), text, metadata }, "metadata"),
  fields(
    {
      type: oneOf("image"),
      image: choice<{ readonly url: string } | { readonly base64: string; readonly mediaType: string }>(
        fields({ url: text }),
        fields({ base64: text, mediaType: text })
      ),
      detail: oneOf("auto", "low", "high"),
      metadata
    },
    "detail",
    "metadata"
  ),
  fields(
    {
      type: oneOf("file"),
      file: choice<{ readonly url: string } | { readonly base64: string }>(
        fields({ url: text }),
        fields({ base64: text })
      ),
      mediaType: text,
      filename: text,
      metadata
    },
    "filename",
    "metadata"
  ),
  fields({ type: oneOf("reasoning"), text, metadata }, "metadata")
)

const toolCall: Gen<Types["ToolCall"]> = fields(
  {
    id: text,
    name: text,
    arguments: choice<Record<string, unknown> | null>(metadata, oneOf(null)),
    rawArguments: text,
    metadata
  },
  "rawArguments",
  "metadata"
)
const toolCalls = list(toolCall)

const assistantPart: Gen<AssistantPart> = choice<AssistantPart>(
  contentPart,
  fields({ type: oneOf("tool_call"), toolCallId: text }),
  fields(
    { type: oneOf("provider_tool_call"), id: text, name: text, arguments: anything, provider: text, metadata },
    "provider",
    "metadata"
  ),
  fields(
    {
      type: oneOf("provider_tool_result"),
      toolCallId: text,
      name: text,
      result: anything,
      isError: flag,
      metadata
    },
    "isError",
    "metadata"
  ),
  fields(
    {
      type: oneOf("source"),
      id: text,
      source: choice<{ readonly url: string } | { readonly mediaType: string; readonly filename?: string }>(
        fields({ url: text }),
        fields({ mediaType: text, filename: text }, "filename")
      ),
      title: text,
      metadata
    },
    "title",
    "metadata"
  ),
  fields(
    { type: oneOf("custom"), kind: text, data: anything, provider: text, metadata },
    "data",
    "provider",
    "metadata"
  )
)

const content = choice<string | Array<Types["ContentPart"]>>(text, list(contentPart))
const assistant = fields(
  { role: oneOf("assistant"), content, toolCalls, parts: list(assistantPart), name: text, metadata },
  "toolCalls",
  "parts",
  "name",
  "metadata"
)
const toolMessage = fields({ role: oneOf("tool"), content, toolCallId: text, name: text, metadata }, "name", "metadata")
const userMessage = fields({ role: oneOf("user"), content, name: text, metadata }, "name", "metadata")
const message: Gen<Types["Message"]> = choice<Types["Message"]>(
  fields({ role: oneOf("system"), content: text, name: text, metadata }, "name", "metadata"),
  userMessage,
  assistant,
  toolMessage
)
const thread: Gen<Types["Thread"]> = fields({ messages: list(message), metadata }, "metadata")

const counters = {
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteInputTokens: count,
  reasoningTokens: count,
  totalTokens: count,
  inputCost: count,
  outputCost: count,
  totalCost: count
}
const usage: Gen<Types["Usage"]> = fields(
  { ...counters, toolUsage: metadata, extra: metadata },
  "inputTokens",
  "outputTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
  "reasoningTokens",
  "totalTokens",
  "inputCost",
  "outputCost",
  "totalCost",
  "toolUsage",
  "extra"
)

const finishReason = oneOf(...FinishReason.options, null)
const response: Gen<Types["Response"]> = fields(
  {
    id: text,
    requestId: text,
    model: text,
    message: assistant,
    outputText: text,
    toolCalls,
    finishReason,
    rawFinishReason: text,
    usage,
    metadata
  },
  "id",
  "requestId",
  "model",
  "message",
  "rawFinishReason"
)

const declaration = fields({ name: text, description: text, schema: metadata, metadata }, "metadata")
const request: Gen<Types["Request"]> = fields(
  {
    model: text,
    messages: list(message),
    tools: list(declaration),
    toolChoice: oneOf<Types["Request"]["toolChoice"]>("auto", "none", "required", { name: "t" }),
    temperature: count,
    maxTokens: count,
    responseFormat: oneOf(
      { type: "text" },
      { type: "json_object" },
      { type: "json_schema", name: "n", schema: { type: "object" }, strict: true }
    ),
    options: metadata,
    metadata
  },
  "model",
  "toolChoice",
  "temperature",
  "maxTokens",
  "responseFormat",
  "options",
  "metadata"
)

const asked = { toolCallId: text, question: text, options: metadata }
const question = fields(asked)
const stepHalt = choice<NonNullable<Types["StepResult"]["halt"]>>(
  fields({ type: oneOf("question"), ...asked }),
  fields(
    { type: oneOf("tool_error"), toolCallId: text, error: errors.ToolError, policyFault: anything },
    "policyFault"
  ),
  fields({ type: oneOf("halt"), toolCallId: text, reason: text, result: anything }),
  fields({ type: oneOf("cancelled"), question }, "question")
)
const approvalKind = oneOf("permission", "unknown_outcome")

const pendingApproval: Gen<PendingApproval> = fields(
  { toolCall, kind: approvalKind, reason: text, askedAt: count, expiresAt: count },
  "expiresAt"
)

const stepResult: Gen<Types["StepResult"]> = fields(
  {
    thread,
    response,
    toolResults: list(toolMessage),
    done: flag,
    mode: oneOf("auto", "manual"),
    halt: stepHalt,
    manualToolCalls: toolCalls,
    truncatedToolCalls: toolCalls,
    pendingApprovals: list(pendingApproval, 2),
    error: choice<unknown>(errors.AdapterError, anything)
  },
  "halt",
  "pendingApprovals",
  "error"
)

const haltedReason = oneOf("completed", "error", "max_turns", "ask_user", "cancelled", "a_word_of_a_tool")
const chatResult: Gen<Types["ChatResult"]> = fields(
  {
    thread,
    finalResponse: response,
    steps: list(stepResult, 2),
    haltedReason,
    pendingQuestion: question,
    pendingToolCalls: toolCalls,
    pendingApprovals: list(pendingApproval, 2),
    metadata
  },
  "finalResponse",
  "pendingQuestion",
  "pendingApprovals"
)

const inboxEntry: Gen<InboxEntry> = fields(
  { id: text, named: flag, whenBusy: oneOf("queue", "steer", "interrupt"), message: userMessage },
  "named"
)

const openCall: Gen<OpenStep["calls"][number]> = choice<OpenStep["calls"][number]>(
  fields({ state: oneOf("new") }),
  fields({ state: oneOf("intended") }),
  fields({ state: oneOf("waiting"), kind: approvalKind, reason: text, askedAt: count, expiresAt: count }, "expiresAt"),
  fields({
    state: oneOf("decided"),
    kind: approvalKind,
    decision: choice<Decision>(
      fields({ type: oneOf("allow"), arguments: metadata }, "arguments"),
      fields({ type: oneOf("deny", "halt"), reason: text }, "reason"),
      fields({ type: oneOf("result"), value: anything })
    )
  }),
  fields({ state: oneOf("manual") }),
  fields({ state: oneOf("done") })
)

const openStep: Gen<OpenStep> = fields({ at: count, calls: list(openCall) })

const chatRecord: Gen<Types["ChatRecord"]> = fields(
  {
    id: text,
    thread,
    usage,
    running: flag,
    lastHaltedReason: haltedReason,
    pendingQuestion: question,
    pendingToolCalls: toolCalls,
    inbox: list(inboxEntry, 2),
    inputs: list(text, 2),
    known: list(text, 2),
    expiresAt: count,
    open: openStep
  },
  "lastHaltedReason",
  "pendingQuestion",
  "inbox",
  "inputs",
  "known",
  "open",
  "expiresAt"
)

const commit: Gen<Types["Commit"]> = fields(
  {
    seq: count,
    at: count,
    kind: oneOf("saved", "forked", "rewound"),
    from: fields({ id: text, seq: count }),
    kept: count,
    messages: list(message),
    known: fields({ kept: count, added: list(text, 2) }),
    metadata,
    state: fields(
      {
        usage,
        running: flag,
        lastHaltedReason: haltedReason,
        pendingToolCalls: toolCalls,
        inbox: list(inboxEntry, 2),
        open: openStep
      },
      "lastHaltedReason",
      "inbox",
      "open"
    ),
    isStep: flag
  },
  "from",
  "known",
  "metadata"
)

const session: Gen<Types["Session"]> = fields(
  {
    id: text,
    thread,
    usage,
    running: flag,
    status: oneOf(...ConversationStatus.options),
    pendingQuestion: question,
    pendingToolCalls: toolCalls,
    context: metadata,
    metadata,
    lastOutcome: fields({ haltedReason: text, metadata, error: choice<unknown>(errors.ToolError, anything) }, "error")
  },
  "pendingQuestion",
  "lastOutcome"
)

const args = choice<Record<string, unknown> | null>(metadata, oneOf(null))
const outcome = outcomeOf(anything)
const id = choice<string | null>(text, oneOf(null))

const compaction = fields(
  {
    upTo: oneOf(0, 3),
    kept: oneOf([], [1, 2]),
    summary: text,
    pruned: oneOf({ before: 2, characters: 500 }),
    plan: text,
    tokens: oneOf({ before: 900, after: 300 }),
    usage,
    model: text
  },
  "summary",
  "pruned",
  "plan",
  "usage",
  "model"
)

const events: { readonly [Tag in Event["type"]]: Gen<Extract<Event, { readonly type: Tag }>> } = {
  message_started: fields({ type: oneOf("message_started"), message: assistant, metadata }, "metadata"),
  text_delta: fields({ type: oneOf("text_delta"), id, delta: text }),
  text_completed: fields({ type: oneOf("text_completed"), id, text }),
  reasoning_delta: fields({ type: oneOf("reasoning_delta"), id, delta: text }),
  tool_call_started: fields({ type: oneOf("tool_call_started"), id: text, name: text }),
  tool_call_delta: fields({ type: oneOf("tool_call_delta"), id: text, argumentsDelta: text }),
  tool_call_completed: fields(
    { type: oneOf("tool_call_completed"), id: text, name: text, arguments: args, rawArguments: text, metadata },
    "metadata"
  ),
  tool_execution_started: fields({ type: oneOf("tool_execution_started"), id: text, name: text, arguments: args }),
  tool_execution_completed: fields({
    type: oneOf("tool_execution_completed"),
    id: text,
    name: text,
    result: outcome,
    outcome: oneOf(...Outcome.options)
  }),
  tool_result_encoded: fields({ type: oneOf("tool_result_encoded"), id: text, content: text }),
  ask_user_requested: fields({ type: oneOf("ask_user_requested"), toolName: text, ...asked }),
  tool_halt: fields({ type: oneOf("tool_halt"), toolCallId: text, reason: text, result: anything, content: text }),
  message_completed: fields(
    { type: oneOf("message_completed"), message: assistant, finishReason, rawFinishReason: text, usage, metadata },
    "rawFinishReason",
    "usage",
    "metadata"
  ),
  step_completed: fields(
    {
      type: oneOf("step_completed"),
      response,
      thread,
      mode: oneOf("auto", "manual"),
      manualToolCalls: toolCalls,
      halt: stepHalt,
      error: choice<unknown>(errors.AdapterError, anything)
    },
    "halt",
    "error"
  ),
  chat_completed: fields({ type: oneOf("chat_completed"), result: chatResult }),
  thread_compacted: fields({ type: oneOf("thread_compacted"), compaction }),
  request_delayed: fields({
    type: oneOf("request_delayed"),
    waitMs: count,
    retryAt: count,
    attempt: count,
    adapter: text,
    reason: text
  }),
  child_event: fields({
    type: oneOf("child_event"),
    toolCallId: text,
    chat: text,
    agent: text,
    event: choice<Event>(
      fields({ type: oneOf("text_delta"), id, delta: text }),
      fields({ type: oneOf("error"), error: errors.AdapterError })
    )
  }),
  raw_chunk: fields({ type: oneOf("raw_chunk"), chunk: anything }),
  error: fields({ type: oneOf("error"), error: choice<unknown>(errors.AdapterError, errors.StreamError, anything) })
}

const effect = oneOf("read", "write")
const schema = Arbitrary.map(metadata, (more) => ({ type: "object", "x-more": more }))
const described = { description: text, jsonSchema: schema, manual: flag, timeoutMs: count, metadata, effect }
const toolOf = (name: string): Gen<Tool> =>
  Arbitrary.map(fields(described, "timeoutMs"), (options) => make({ ...options, name, handler: () => ok(1) }))

const engine: Gen<Engine.Engine> = Arbitrary.map(
  fields(
    { model: text, tools: Arbitrary.all([toolOf("a"), toolOf("b")]), params: metadata, context: metadata, metadata },
    "model"
  ),
  Engine.make
)

/** A generator for every type. */
export const values: { readonly [Name in TypeName]: Gen<Types[Name]> } = {
  ContentPart: contentPart,
  Message: message,
  ToolCall: toolCall,
  Thread: thread,
  Tool: toolOf("t"),
  Engine: engine,
  Request: request,
  Usage: usage,
  Response: response,
  HandlerResult: outcome,
  StepResult: stepResult,
  ChatResult: chatResult,
  ChatRecord: chatRecord,
  Commit: commit,
  Session: session,
  Event: choice<Event>(...tags.map((tag) => events[tag])),
  ...errors
}
