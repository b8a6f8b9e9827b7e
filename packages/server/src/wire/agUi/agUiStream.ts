/**
 * Converts a chat's events to events of AG-UI 1.0.
 *
 * Owns: the record of what is open on the client's side. Does not own the source of the events.
 *
 * AGUI1. `RUN_STARTED` is first, and `RUN_FINISHED` or `RUN_ERROR` last. Everything that starts between them ends.
 * AGUI2. A message has the same id live and in a snapshot of the messages: the reply's id, and the step's number in it.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { type Message, Message as Messages, type ToolCall } from "@troupe/chat/messages"
import type { PendingApproval } from "@troupe/chat/tools"
import {
  callsOf,
  errorCode,
  errorText,
  isoTime,
  isQuestion,
  isSaid,
  isStep,
  leftBy,
  messageName,
  replyName,
  stepsOf
} from "../index.ts"

/** One event. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** A run and its reply: `steps` of it are over, and the client has the `calls` of the last. */
export interface AgUiRun {
  readonly threadId: string
  readonly runId: string
  readonly reply: string
  readonly steps: number
  readonly calls: Iterable<string>
}

/** Ids that belong to a call contain the id of its step: models reuse ids of calls. */
const questionId = (step: string, toolCallId: string): string => `${step}.${toolCallId}.question`
const resultId = (step: string, toolCallId: string): string => `${step}.${toolCallId}`

export class AgUiStream {
  readonly #run: AgUiRun
  readonly #answered = new Set<string>()
  /** The calls of the step that were sent to the client. */
  #sent: Set<string>
  #steps: number
  #inStep = false
  #hasText = false
  #hasQuestion = false
  #isTextOpen = false
  /** The open block of reasoning, and how many the step has. */
  #reasoning: { readonly messageId: string; of: unknown } | undefined
  #thoughts = 0
  readonly #calls = new Map<string, { written: boolean }>()

  constructor(run: AgUiRun) {
    this.#run = run
    this.#steps = run.steps
    this.#sent = new Set(run.calls)
  }

  start(): ReadonlyArray<AgUiEvent> {
    return [{ type: "RUN_STARTED", ...this.#ids() }]
  }

  push(event: Event): ReadonlyArray<AgUiEvent> {
    switch (event.type) {
      case "message_started":
        return [...this.#endStep(), ...this.#beginStep()]
      case "text_delta":
        return this.#delta(event.delta)
      case "text_completed":
        return [...(this.#hasText ? [] : this.#delta(event.text)), ...this.#endText()]
      case "reasoning_delta":
        return this.#think(event.delta, event.id)
      case "tool_call_started":
        return this.#beginCall(event.id, event.name)
      case "tool_call_delta":
        return this.#argumentsOf(event.id, event.argumentsDelta)
      case "tool_call_completed":
        return this.#callCompleted(event)
      case "tool_result_encoded":
        return this.#completed(event.id, event.content)
      case "tool_halt":
        return this.#completed(event.toolCallId, event.content)
      case "ask_user_requested":
        if (!this.#sent.has(event.toolCallId)) return []
        this.#hasQuestion = true
        return whole(questionId(this.#callsStep, event.toolCallId), event.question)
      case "step_completed":
        return this.#stepCompleted(event)
      case "chat_completed":
        return this.ended(event.result)
      case "tool_execution_started":
      case "tool_execution_completed":
      case "message_completed":
      case "raw_chunk":
      case "error":
        return []
    }
  }

  /** Sends the end of the turn. */
  ended(
    result: Pick<ChatResult, "haltedReason" | "metadata" | "pendingQuestion" | "pendingApprovals" | "pendingToolCalls">
  ): ReadonlyArray<AgUiEvent> {
    const { haltedReason, pendingQuestion, pendingApprovals = [], pendingToolCalls } = result
    if (haltedReason === "error") return this.failed(result.metadata["error"])
    const finished = (outcome: object) => [...this.#endStep(), { type: "RUN_FINISHED", ...this.#ids(), outcome }]
    if (haltedReason === "cancelled") return finished({ type: "cancelled" })
    const interrupts = interruptsOf(pendingApprovals, pendingQuestion)
    if (interrupts.length > 0) return finished({ type: "interrupt", interrupts })
    const pending = pendingToolCalls.map(({ id }) => id)
    const outcome = { type: "success", ...(pending.length === 0 ? {} : { pendingToolCallIds: pending }) }
    const why = haltedReason === "completed" || haltedReason === "manual_tool_calls" ? {} : { result: { haltedReason } }
    return finished(outcome).map((event) => (event.type === "RUN_FINISHED" ? { ...event, ...why } : event))
  }

  /** Sends the failure of the turn, or of the stream of its events. */
  failed(error: unknown): ReadonlyArray<AgUiEvent> {
    return [...this.#endStep(), { type: "RUN_ERROR", message: errorText(error), code: errorCode(error) }]
  }

  /** Sends the whole thread in place of the client's messages. The running step is sent again. */
  snapshot(
    messages: ReadonlyArray<Message.Message>,
    steps: number,
    { text, reasoning = "" }: { readonly text: string; readonly reasoning?: string } = { text: "" }
  ): ReadonlyArray<AgUiEvent> {
    const closed = this.#endStep()
    this.#steps = steps
    this.#sent = new Set(callsOf(messages))
    return [
      ...closed,
      { type: "MESSAGES_SNAPSHOT", messages: agUiMessages(messages) },
      ...this.#think(reasoning),
      ...this.#delta(text)
    ]
  }

  #ids() {
    return { threadId: this.#run.threadId, runId: this.#run.runId }
  }

  /** The message of the running step (AGUI2). */
  get #messageId(): string {
    return stepId(this.#run.reply, this.#steps)
  }

  /** The message whose calls run: a turn may continue those of the previous step. */
  get #callsStep(): string {
    return stepId(this.#run.reply, this.#inStep ? this.#steps : Math.max(0, this.#steps - 1))
  }

  #beginStep(): ReadonlyArray<AgUiEvent> {
    if (this.#inStep) return []
    this.#inStep = true
    this.#hasText = false
    this.#hasQuestion = false
    this.#thoughts = 0
    this.#sent.clear()
    return [{ type: "STEP_STARTED", stepName: `step ${this.#steps + 1}` }]
  }

  #endStep(): ReadonlyArray<AgUiEvent> {
    const closed = [...this.#endReasoning(), ...this.#endText(), ...this.#endCalls()]
    if (!this.#inStep) return closed
    this.#inStep = false
    this.#steps += 1
    return [...closed, { type: "STEP_FINISHED", stepName: `step ${this.#steps}` }]
  }

  #delta(delta: string): ReadonlyArray<AgUiEvent> {
    if (delta === "") return []
    const messageId = this.#messageId
    const begun = [...this.#beginStep(), ...this.#endReasoning()]
    const started: ReadonlyArray<AgUiEvent> = this.#isTextOpen
      ? []
      : [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }]
    this.#isTextOpen = true
    this.#hasText = true
    return [...begun, ...started, { type: "TEXT_MESSAGE_CONTENT", messageId, delta }]
  }

  #endText(): ReadonlyArray<AgUiEvent> {
    if (!this.#isTextOpen) return []
    this.#isTextOpen = false
    return [{ type: "TEXT_MESSAGE_END", messageId: this.#messageId }]
  }

  /** Adds reasoning to the open block, or begins one. The next fragment continues a block whose beginning was missed. */
  #think(delta: string, of?: string | null): ReadonlyArray<AgUiEvent> {
    if (delta === "") return []
    const begun = this.#beginStep()
    const open = this.#reasoning
    if (open !== undefined && (open.of === of || open.of === undefined)) {
      open.of = of
      return [{ type: "REASONING_MESSAGE_CONTENT", messageId: open.messageId, delta }]
    }
    const ended = this.#endReasoning()
    const messageId = reasoningId(this.#messageId, this.#thoughts++)
    this.#reasoning = { messageId, of }
    return [
      ...begun,
      ...ended,
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta }
    ]
  }

  #endReasoning(): ReadonlyArray<AgUiEvent> {
    const messageId = this.#reasoning?.messageId
    this.#reasoning = undefined
    return messageId === undefined
      ? []
      : [
          { type: "REASONING_MESSAGE_END", messageId },
          { type: "REASONING_END", messageId }
        ]
  }

  #beginCall(toolCallId: string, toolCallName: string): ReadonlyArray<AgUiEvent> {
    if (this.#calls.has(toolCallId)) return []
    const begun = [...this.#beginStep(), ...this.#endReasoning()]
    this.#calls.set(toolCallId, { written: false })
    this.#sent.add(toolCallId)
    this.#answered.delete(toolCallId)
    return [...begun, { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId: this.#messageId }]
  }

  #argumentsOf(toolCallId: string, delta: string): ReadonlyArray<AgUiEvent> {
    const call = this.#calls.get(toolCallId)
    if (call === undefined || delta === "") return []
    call.written = true
    return [{ type: "TOOL_CALL_ARGS", toolCallId, delta }]
  }

  /** Sends the result of a call. A call whose start was missed is sent, in its place, when the step is over. */
  #completed(id: string, content: string): ReadonlyArray<AgUiEvent> {
    return this.#sent.has(id) ? this.#result(id, content) : []
  }

  #notify({ id, name, arguments: given, rawArguments }: ToolCall.ToolCall): ReadonlyArray<AgUiEvent> {
    if (this.#sent.has(id)) return []
    return this.#callCompleted({ id, name, rawArguments: rawArguments ?? JSON.stringify(given ?? {}) })
  }

  #callCompleted(
    call: Pick<Extract<Event, { type: "tool_call_completed" }>, "id" | "name" | "rawArguments">
  ): ReadonlyArray<AgUiEvent> {
    const { id, name, rawArguments } = call
    const begun = this.#beginCall(id, name)
    const written = this.#calls.get(id)?.written === true ? [] : this.#argumentsOf(id, rawArguments)
    this.#calls.delete(id)
    return [...begun, ...written, { type: "TOOL_CALL_END", toolCallId: id }]
  }

  #endCalls(): ReadonlyArray<AgUiEvent> {
    const open = [...this.#calls.keys()]
    this.#calls.clear()
    return open.map((toolCallId) => ({ type: "TOOL_CALL_END", toolCallId }))
  }

  #result(toolCallId: string, content: string): ReadonlyArray<AgUiEvent> {
    this.#answered.add(toolCallId)
    return [
      { type: "TOOL_CALL_RESULT", messageId: resultId(this.#callsStep, toolCallId), toolCallId, content, role: "tool" }
    ]
  }

  #stepCompleted(event: Extract<Event, { type: "step_completed" }>): ReadonlyArray<AgUiEvent> {
    const { response, halt } = event
    const { said, behind = [] } = leftBy(event, !this.#inStep) ?? {}
    const isUnsaid = halt?.type === "question" && !this.#hasQuestion
    return [
      ...(this.#inStep && !this.#hasText ? this.#delta(response.outputText) : []),
      ...(said?.toolCalls ?? []).flatMap((call) => this.#notify(call)),
      ...behind.flatMap((message) =>
        message.role !== "tool" || this.#answered.has(message.toolCallId)
          ? []
          : this.#result(message.toolCallId, Messages.text(message))
      ),
      ...(isUnsaid ? whole(questionId(this.#callsStep, halt.toolCallId), halt.question) : []),
      ...this.#endStep()
    ]
  }
}

/** The id of a step's block of reasoning. */
const reasoningId = (step: string, index: number): string => `${step}.reasoning${index === 0 ? "" : `.${index + 1}`}`

const stepId = (reply: string, step: number): string => `${reply}.${step + 1}`

const whole = (messageId: string, delta: string): ReadonlyArray<AgUiEvent> =>
  delta === ""
    ? []
    : [
        { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
        { type: "TEXT_MESSAGE_END", messageId }
      ]

const approvalSchema = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"]
} as const

/** The ids of the interrupts that a chat waits for. */
export const interruptIds = (
  approvals: ReadonlyArray<PendingApproval>,
  question: NonNullable<ChatResult["pendingQuestion"]> | undefined
): ReadonlyArray<string> => [
  ...approvals.map(({ toolCall }) => `approval:${toolCall.id}`),
  ...(question === undefined ? [] : [`question:${question.toolCallId}`])
]

/** The interrupts that a run waits for: decisions, and the answer to a question. */
const interruptsOf = (
  approvals: ReadonlyArray<PendingApproval>,
  question: NonNullable<ChatResult["pendingQuestion"]> | undefined
): ReadonlyArray<object> => [
  ...approvals.map(({ toolCall, reason, expiresAt }) => ({
    id: `approval:${toolCall.id}`,
    reason: "tool_call",
    message: reason,
    toolCallId: toolCall.id,
    responseSchema: approvalSchema,
    ...(expiresAt === undefined ? {} : { expiresAt: isoTime(expiresAt) })
  })),
  ...(question === undefined
    ? []
    : [
        {
          id: `question:${question.toolCallId}`,
          reason: "input_required",
          message: question.question,
          toolCallId: question.toolCallId,
          responseSchema: { type: "string" },
          metadata: { options: question.options }
        }
      ])
]

/** Converts the messages of a thread. */
export const agUiMessages = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<object> => {
  const all: Array<object> = []
  let reply = replyName("m")
  let step = 0
  for (const [index, message] of messages.entries()) {
    const content = Messages.text(message)
    if (isSaid(message)) {
      const id = messageName(message, index)
      reply = replyName(id)
      step = 0
      all.push({ id, role: "user", content })
    } else if (message.role === "tool") {
      all.push({
        id: resultId(stepId(reply, step - 1), message.toolCallId),
        role: "tool",
        toolCallId: message.toolCallId,
        content
      })
    } else if (isQuestion(message)) {
      const id = questionId(stepId(reply, step - 1), String(message.metadata?.["tool_call_id"]))
      all.push({ id, role: "assistant", content })
    } else if (isStep(message)) {
      all.push(...stepMessages(message, stepId(reply, step)))
      step += 1
    }
  }
  return all
}

/** The messages of a step: its reasoning, and the reply at the place of its first text or call. */
const stepMessages = (message: Extract<Message.Message, { role: "assistant" }>, id: string): ReadonlyArray<object> => {
  const reply = { id, role: "assistant", ...withCalls(message, Messages.text(message)) }
  const parts = Messages.parts(message).filter(
    ({ type }) => type === "text" || type === "tool_call" || type === "reasoning"
  )
  const found = parts.findIndex(({ type }) => type !== "reasoning")
  const at = found === -1 ? parts.length : found
  const thoughts = parts.map((part) => (part.type === "reasoning" ? part.text : ""))
  let count = 0
  const messagesOf = (texts: ReadonlyArray<string>): ReadonlyArray<object> =>
    texts.flatMap((content) => (content === "" ? [] : [{ id: reasoningId(id, count++), role: "reasoning", content }]))
  return [...messagesOf(thoughts.slice(0, at)), reply, ...messagesOf(thoughts.slice(at))]
}

const withCalls = ({ toolCalls = [] }: Extract<Message.Message, { role: "assistant" }>, content: string) => ({
  ...(content === "" && toolCalls.length > 0 ? {} : { content }),
  ...(toolCalls.length === 0
    ? {}
    : {
        toolCalls: toolCalls.map(({ id, name, arguments: given, rawArguments }) => ({
          id,
          type: "function",
          function: { name, arguments: rawArguments ?? JSON.stringify(given ?? {}) }
        }))
      })
})

/** The number of steps in some messages of a reply. */
export const stepCount = (messages: ReadonlyArray<Message.Message>): number => stepsOf(messages).length
