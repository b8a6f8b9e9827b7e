/**
 * Converts a chat's events to events of AG-UI.
 *
 * Owns: the record of what is open on the client's side. Does not own the source of the events.
 *
 * AGUI1. `RUN_STARTED` is first, and `RUN_FINISHED` or `RUN_ERROR` last. Everything that starts between them ends.
 */
import type { Event } from "@troupe/chat/events"
import { type ContentPart, type Message, Message as Messages, type ToolCall } from "@troupe/chat/messages"
import { agentMessages, callsOf, childData, compactedData, errorCode, errorText, leftBy } from "../index.ts"
import {
  activitiesOf,
  agUiMessages,
  resultContent,
  questionId,
  reasoningId,
  resultId,
  stepId,
  type ResultIds
} from "./agUiMessages.ts"
import { type AgUiResult, outcomeOf, usageOf } from "./agUiOutcome.ts"

export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * A run and its reply: `steps` of it are over, and the client has the `calls` of the last. `isCurrent` is whether the client
 * understands version 1.0 (AGUI3). `resultIds` are the ids of the results that it has.
 */
export interface AgUiRun {
  readonly threadId: string
  readonly runId: string
  readonly isCurrent: boolean
  readonly resultIds: ResultIds
  readonly reply: string
  readonly steps: number
  readonly calls: Iterable<string>
}

export class AgUiStream {
  readonly #run: AgUiRun
  readonly #answered = new Set<string>()
  /** The calls of the step that were sent to the client. */
  #sent: Set<string>
  #steps: number
  #inStep = false
  #hasText = false
  #hasQuestion = false
  #hasFiles = false
  #isTextOpen = false
  /** The open block of reasoning, and how many the step has. */
  #reasoning: { readonly messageId: string; of: unknown } | undefined
  #thoughts = 0
  readonly #calls = new Map<string, { written: boolean }>()

  /** The name of the reply. */
  get reply(): string {
    return this.#run.reply
  }

  constructor(run: AgUiRun) {
    this.#run = run
    this.#steps = run.steps
    this.#sent = new Set(run.calls)
  }

  start(): ReadonlyArray<AgUiEvent> {
    const version = this.#run.isCurrent ? { protocolVersion: "1.0" } : {}
    return [{ type: "RUN_STARTED", ...this.#ids(), ...version }]
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
        return this.#completed(event.id, event)
      case "tool_halt":
        return this.#completed(event.toolCallId, event)
      case "ask_user_requested":
        if (!this.#sent.has(event.toolCallId)) return []
        this.#hasQuestion = true
        return whole(questionId(this.#callsStep, event.toolCallId), event.question)
      case "step_completed":
        return this.#stepCompleted(event)
      case "chat_completed":
        return this.ended(event.result)
      case "message_completed":
        return this.#filesOf(event.message)
      case "request_delayed": {
        const { type: _, ...value } = event
        return [{ type: "CUSTOM", name: "troupe.delayed", value }]
      }
      case "thread_compacted":
        return [{ type: "CUSTOM", name: "troupe.compacted", value: compactedData(event) }]
      case "child_event": {
        const value = childData(event)
        return value === undefined ? [] : [{ type: "CUSTOM", name: "troupe.child", value }]
      }
      case "tool_execution_started":
      case "tool_execution_completed":
      case "raw_chunk":
      case "error":
        return []
    }
  }

  /** Sends the end of the turn. */
  ended(result: AgUiResult): ReadonlyArray<AgUiEvent> {
    const { haltedReason, metadata, steps } = result
    if (haltedReason === "error") return this.failed(metadata["error"], steps)
    const outcome = outcomeOf(result, this.#run.isCurrent)
    return [...this.#endStep(), { type: "RUN_FINISHED", ...this.#ids(), ...outcome }]
  }

  /** Sends the failure of the turn, or of the stream of its events. */
  failed(error: unknown, steps: AgUiResult["steps"] = []): ReadonlyArray<AgUiEvent> {
    const failure = { type: "RUN_ERROR", message: errorText(error), code: errorCode(error) }
    return [...this.#endStep(), { ...failure, ...usageOf(steps) }]
  }

  /** Sends the whole thread in place of the client's messages. The running step is sent again. */
  snapshot(
    messages: ReadonlyArray<Message.Message>,
    steps: number,
    { text, reasoning = "" }: { readonly text: string; readonly reasoning?: string } = { text: "" }
  ): ReadonlyArray<AgUiEvent> {
    const { isCurrent, resultIds } = this.#run
    const closed = this.#endStep()
    this.#steps = steps
    this.#sent = new Set(callsOf(messages))
    return [
      ...closed,
      { type: "MESSAGES_SNAPSHOT", messages: agUiMessages(messages, isCurrent, resultIds) },
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
    this.#hasFiles = false
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
  #completed(id: string, { content, parts }: Answer): ReadonlyArray<AgUiEvent> {
    return this.#sent.has(id) ? this.#result(id, parts ?? content, content) : []
  }

  /** Sends the files and the sources of the step's reply, once. */
  #filesOf(message: Extract<Message.Message, { role: "assistant" }> | undefined): ReadonlyArray<AgUiEvent> {
    if (message === undefined || this.#hasFiles) return []
    const activities = activitiesOf(message, this.#messageId)
    if (activities.length === 0) return []
    const begun = [...this.#beginStep(), ...this.#endReasoning(), ...this.#endText()]
    this.#hasFiles = true
    return [
      ...begun,
      ...activities.map(({ id: messageId, ...activity }) => ({ type: "ACTIVITY_SNAPSHOT", messageId, ...activity }))
    ]
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

  #result(toolCallId: string, given: string | ReadonlyArray<ContentPart>, text: string): ReadonlyArray<AgUiEvent> {
    this.#answered.add(toolCallId)
    const messageId = resultId(this.#callsStep, toolCallId)
    const content = resultContent(given, text, this.#run.isCurrent)
    return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }]
  }

  #stepCompleted(event: Extract<Event, { type: "step_completed" }>): ReadonlyArray<AgUiEvent> {
    const { response, halt } = event
    const { said, behind = [] } = leftBy(event, !this.#inStep) ?? {}
    const isUnsaid = halt?.type === "question" && !this.#hasQuestion
    return [
      ...(this.#inStep ? messagesIn(event) : []),
      ...(this.#inStep && !this.#hasText ? this.#delta(response.outputText) : []),
      ...(this.#inStep ? this.#filesOf(said) : []),
      ...(said?.toolCalls ?? []).flatMap((call) => this.#notify(call)),
      ...behind.flatMap((message) =>
        message.role !== "tool" || this.#answered.has(message.toolCallId)
          ? []
          : this.#result(message.toolCallId, message.content, Messages.text(message))
      ),
      ...(isUnsaid ? whole(questionId(this.#callsStep, halt.toolCallId), halt.question) : []),
      ...this.#endStep()
    ]
  }
}

/** The text of a result, and its parts if it has parts. */
interface Answer {
  readonly content: string
  readonly parts?: ReadonlyArray<ContentPart> | undefined
}

/** The messages of agents that the step has read (AGENTMSG1). */
const messagesIn = (event: Extract<Event, { type: "step_completed" }>): ReadonlyArray<AgUiEvent> =>
  agentMessages(event).map((value) => ({ type: "CUSTOM", name: "troupe.message", value }))

const whole = (messageId: string, delta: string): ReadonlyArray<AgUiEvent> =>
  delta === ""
    ? []
    : [
        { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
        { type: "TEXT_MESSAGE_END", messageId }
      ]
