/**
 * Converts a chat's events to chunks of the AI SDK's UI message stream, version 1.
 *
 * Owns: the record of what was sent of the message. Does not own the source of the events: the same events give the same
 * chunks, whether live, replayed, or read from the thread.
 *
 * UI1. A client has the same message after reading the chunks of a turn, of a replay of the turn, or the thread.
 * UI2. Everything that was started is ended before the part that contains it. Nothing is sent about a call that the client
 *      does not have.
 * UI3. Anything the protocol has no chunk for is sent as a transient `data-troupe-…` chunk.
 * UI4. The finish reason is one that every version of the client from 5 on parses: of other ends it is `other` (UI3).
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Outcome } from "@troupe/chat/results"
import type { PendingApproval } from "@troupe/chat/tools"
import {
  agentMessages,
  childData,
  compactedData,
  errorCode,
  errorText,
  leftBy,
  type StepMessages,
  stepsOf
} from "../index.ts"
import { type UiChunk, UiBlocks } from "./uiBlocks.ts"
import type { UiMetadata } from "./uiMetadata.ts"
import { answerOf, answerState, belowPart, stepParts, type ToolPart, type UiAnswer, type UiPart } from "./uiParts.ts"

/** Where a chat stands in the middle of a turn. */
export interface UiStanding {
  /** The reply's messages in the thread so far. */
  readonly messages: ReadonlyArray<Message.Message>
  readonly approvals: ReadonlyArray<PendingApproval>
  /** The text and the reasoning of the running step so far. */
  readonly partial: { readonly text: string; readonly reasoning?: string }
}

/** What a client has of a step that a turn continues: its calls, and those it was asked to decide about. */
export interface UiKnown {
  readonly sent?: Iterable<string>
  readonly asked?: Iterable<string>
}

/** Whether a call of the chat itself waits for a decision. */
const isOwn = ({ toolCall }: PendingApproval): boolean => !toolCall.id.includes("/~/")

/** What calls ask and sub-agents wait for, as calls of their own, without what the client was asked before. */
const waitsBelow = (waits: ReadonlyArray<PendingApproval>, asked: ReadonlySet<string>): ReadonlyArray<ToolPart> =>
  waits.filter((wait) => !isOwn(wait) && !asked.has(wait.toolCall.id)).map(belowPart)

/** The error of a call that has neither arguments nor a `problem`. */
const notAnObject = "The arguments are not a JSON object"

export class UiStream {
  readonly #manual: ReadonlySet<string>
  readonly #asked: Set<string>
  readonly #answered = new Set<string>()
  /** The calls of the step that were sent to the client. */
  readonly #sent: Set<string>
  readonly #begun = new Set<string>()
  #outcomes = new Map<string, Outcome>()
  #inStep = false
  #steps = 0
  readonly #blocks = new UiBlocks()
  #hasQuestion = false
  #finish: string | undefined

  /**
   * `manual` are the tools whose calls the client answers. `before` is what the client has of the step that continues.
   */
  constructor(manual: ReadonlySet<string>, before: UiKnown = {}) {
    this.#manual = manual
    this.#asked = new Set(before.asked)
    this.#sent = new Set(before.sent)
  }

  /** The first chunks. */
  start(messageId: string, messageMetadata?: UiMetadata): ReadonlyArray<UiChunk> {
    return [{ type: "start", messageId, ...(messageMetadata === undefined ? {} : { messageMetadata }) }]
  }

  /** Sends completed steps, without those the client already has. */
  said(
    messages: ReadonlyArray<Message.Message>,
    approvals: ReadonlyArray<PendingApproval> = []
  ): ReadonlyArray<UiChunk> {
    return stepsOf(messages).flatMap((step, index) => {
      if (index < this.#steps) return this.#answersOf(step.behind)
      return [...this.#beginStep(), ...this.#sayStep(step, approvals), ...this.#endStep()]
    })
  }

  /** Sends the state of the chat in place of missed events. The running step is sent again. */
  standing({ messages, approvals, partial }: UiStanding): ReadonlyArray<UiChunk> {
    const whole = [...this.#resetStep(), ...this.said(messages, approvals)]
    return [...whole, ...this.#reasoning(partial.reasoning ?? ""), ...this.#delta(partial.text)]
  }

  push(event: Event): ReadonlyArray<UiChunk> {
    switch (event.type) {
      case "message_started":
        return [...this.#resetStep(), ...this.#beginStep()]
      case "text_delta":
        return this.#delta(event.delta, event.id)
      case "text_completed":
        return [...(this.#blocks.hasText ? [] : this.#delta(event.text)), ...this.#blocks.endText()]
      case "reasoning_delta":
        return this.#reasoning(event.delta, event.id)
      case "tool_call_started":
        return [...this.#beginStep(), ...this.#blocks.endReasoning(), ...this.#beginCall(event.id, event.name)]
      case "tool_call_delta": {
        const { id: toolCallId, argumentsDelta: inputTextDelta } = event
        return this.#begun.has(toolCallId) ? [{ type: "tool-input-delta", toolCallId, inputTextDelta }] : []
      }
      case "tool_call_completed":
        return this.#callCompleted(event)
      case "tool_execution_completed":
        this.#outcomes.set(event.id, event.outcome)
        return []
      case "tool_result_encoded":
        return this.#completed(event.id, event)
      case "tool_halt":
        return this.#completed(event.toolCallId, event)
      case "ask_user_requested": {
        const { toolCallId, question, options } = event
        if (!this.#sent.has(toolCallId)) return []
        this.#hasQuestion = true
        return [
          ...this.#blocks.whole("text", question),
          { type: "data-troupe-question", transient: true, data: { toolCallId, question, options } }
        ]
      }
      case "step_completed":
        return this.#stepCompleted(event)
      case "chat_completed":
        return this.ended(event.result)
      case "request_delayed":
      case "thread_compacted":
      case "child_event":
        return transientData(event)
      case "tool_execution_started":
      case "message_completed":
      case "raw_chunk":
      case "error":
        return []
    }
  }

  /** Sends the end of the turn. */
  ended(result: Pick<ChatResult, "haltedReason" | "metadata">): ReadonlyArray<UiChunk> {
    return [...this.#endStep(), ...endingOf(result, this.#finish)]
  }

  /** Sends the failure of the turn, or of the stream of its events. */
  failed(error: unknown): ReadonlyArray<UiChunk> {
    return [...this.#endStep(), ...failureOf(error)]
  }

  #beginStep(): ReadonlyArray<UiChunk> {
    if (this.#inStep) return []
    this.#inStep = true
    this.#forgetStep()
    return [{ type: "start-step" }]
  }

  #endStep(): ReadonlyArray<UiChunk> {
    const closed = [...this.#blocks.endReasoning(), ...this.#blocks.endText()]
    if (!this.#inStep) return closed
    this.#inStep = false
    this.#steps += 1
    return [...closed, { type: "finish-step" }]
  }

  /** Restarts a step that has begun. */
  #resetStep(): ReadonlyArray<UiChunk> {
    if (!this.#inStep) return []
    this.#forgetStep()
    return [{ type: "reset-step" }]
  }

  #forgetStep(): void {
    this.#blocks.reset()
    this.#hasQuestion = false
    this.#sent.clear()
    this.#begun.clear()
  }

  /** Sends the result of a call. A step that has a call whose start was missed is sent again when it is over. */
  #completed(id: string, answer: UiAnswer, outcome = this.#outcomes.get(id)): ReadonlyArray<UiChunk> {
    return this.#sent.has(id) ? this.#answer(id, answer, outcome) : []
  }

  #delta(delta: string, of?: unknown): ReadonlyArray<UiChunk> {
    return delta === "" ? [] : [...this.#beginStep(), ...this.#blocks.text(delta, of)]
  }

  #reasoning(delta: string, of?: unknown): ReadonlyArray<UiChunk> {
    return delta === "" ? [] : [...this.#beginStep(), ...this.#blocks.reasoning(delta, of)]
  }

  #beginCall(toolCallId: string, toolName: string): ReadonlyArray<UiChunk> {
    if (this.#begun.has(toolCallId)) return []
    this.#begun.add(toolCallId)
    this.#blocks.part(toolCallId)
    this.#sent.add(toolCallId)
    this.#answered.delete(toolCallId)
    return [{ type: "tool-input-start", toolCallId, toolName, ...this.#runBy(toolName) }]
  }

  #callCompleted(call: Extract<Event, { type: "tool_call_completed" }>): ReadonlyArray<UiChunk> {
    const { id, name, arguments: input, rawArguments, problem } = call
    const begun = [...this.#beginStep(), ...this.#blocks.endReasoning()]
    this.#blocks.part(id)
    this.#sent.add(id)
    this.#begun.delete(id)
    this.#answered.delete(id)
    const said = { toolCallId: id, toolName: name, ...this.#runBy(name) }
    return input === null
      ? [...begun, { type: "tool-input-error", ...said, input: rawArguments, errorText: problem ?? notAnObject }]
      : [...begun, { type: "tool-input-available", ...said, input }]
  }

  #runBy(toolName: string): Pick<ToolPart, "providerExecuted"> {
    return this.#manual.has(toolName) ? {} : { providerExecuted: true }
  }

  #answer(toolCallId: string, answer: UiAnswer, outcome: Outcome | undefined): ReadonlyArray<UiChunk> {
    this.#answered.add(toolCallId)
    return this.#state(toolCallId, answerState(toolCallId, answer, outcome))
  }

  #state(
    toolCallId: string,
    state: Omit<ToolPart, "type" | "toolCallId" | "input"> & Pick<ToolPart, "state">
  ): ReadonlyArray<UiChunk> {
    const part = { toolCallId, ...state } as ToolPart
    switch (part.state) {
      case "input-available":
        return []
      case "approval-requested":
        return this.#ask(toolCallId, part.approval.requestReason)
      case "output-available":
        return [{ type: "tool-output-available", toolCallId, output: part.output }]
      case "output-error":
        return [{ type: "tool-output-error", toolCallId, errorText: part.errorText }]
      case "output-denied": {
        const { id: approvalId, reason } = part.approval
        const denied: UiChunk = { type: "tool-output-denied", toolCallId }
        if (this.#asked.has(toolCallId)) return [denied]
        return [
          ...this.#ask(toolCallId, reason),
          { type: "tool-approval-response", approvalId, approved: false, reason },
          denied
        ]
      }
    }
  }

  #ask(toolCallId: string, reason: string): ReadonlyArray<UiChunk> {
    if (this.#asked.has(toolCallId)) return []
    this.#asked.add(toolCallId)
    return [{ type: "tool-approval-request", approvalId: toolCallId, toolCallId, reason }]
  }

  /** Sends results that came without events of their own. */
  #answersOf(behind: ReadonlyArray<Message.Message>): ReadonlyArray<UiChunk> {
    return behind.flatMap((message) =>
      message.role !== "tool" || this.#answered.has(message.toolCallId)
        ? []
        : this.#answer(message.toolCallId, answerOf(message), message.outcome)
    )
  }

  #stepCompleted(event: Extract<Event, { type: "step_completed" }>): ReadonlyArray<UiChunk> {
    const { response, halt, pendingApprovals = [] } = event
    const left = leftBy(event, !this.#inStep)
    const kept = new Set(left?.said.toolCalls?.map(({ id }) => id))
    const cutShort = this.#inStep ? response.toolCalls.filter(({ id }) => !kept.has(id)) : []
    if (response.finishReason !== null) this.#finish = finishReasons[response.finishReason]
    const asks: ReadonlyArray<UiChunk> = halt?.type === "question" ? this.#blocks.whole("text", halt.question) : []
    if (
      left !== undefined &&
      ([...kept].some((id) => !this.#sent.has(id)) || (this.#inStep && isOther(left, this.#blocks.begun)))
    ) {
      const anew = [...this.#beginStep(), ...this.#resetStep(), ...this.#sayStep(left, pendingApprovals)]
      return [...anew, ...asks, ...this.#endStep()]
    }
    return [
      ...(this.#inStep ? messagesIn(event) : []),
      ...(this.#inStep && !this.#blocks.hasText ? this.#delta(response.outputText) : []),
      ...this.#answersOf(left?.behind ?? []),
      ...cutShort.flatMap(({ id }) =>
        this.#completed(id, { content: "The reply was cut short; the call was not run" }, "not_started")
      ),
      ...pendingApprovals.filter(isOwn).flatMap(({ toolCall, reason }) => this.#ask(toolCall.id, reason)),
      ...waitsBelow(pendingApprovals, this.#asked).flatMap((part) => this.#part(part)),
      ...(this.#hasQuestion ? [] : asks),
      ...this.#endStep()
    ]
  }

  #sayStep(step: StepMessages, approvals: ReadonlyArray<PendingApproval>): ReadonlyArray<UiChunk> {
    return stepParts(step, { manual: this.#manual, approvals }).flatMap((part) => this.#part(part))
  }

  #part(part: UiPart): ReadonlyArray<UiChunk> {
    switch (part.type) {
      case "step-start":
        return []
      case "file":
      case "source-url":
      case "source-document":
        return [part]
      case "text":
      case "reasoning":
        return this.#blocks.whole(part.type, part.text)
      default: {
        const { type, toolCallId, input, providerExecuted } = part
        const toolName = type.slice("tool-".length)
        this.#sent.add(toolCallId)
        if (part.state !== "input-available" && part.state !== "approval-requested") this.#answered.add(toolCallId)
        return [
          {
            type: "tool-input-available",
            toolCallId,
            toolName,
            input,
            ...(providerExecuted ? { providerExecuted } : {})
          },
          ...this.#state(toolCallId, part)
        ]
      }
    }
  }
}

/** Whether the reply has other parts than the client, or has them in another order: then the step is sent again. */
const isOther = ({ said }: StepMessages, begun: ReadonlyArray<string>): boolean => {
  if (said.parts === undefined) return false
  const names = stepParts({ said, behind: [] }, { manual: new Set(), approvals: [] }).slice(1).map(partName)
  return names.length !== begun.length || names.some((name, at) => name !== begun[at])
}

/** The end of a turn, after its last step. */
const endingOf = (
  { haltedReason, metadata }: Pick<ChatResult, "haltedReason" | "metadata">,
  finish = "stop"
): ReadonlyArray<UiChunk> => {
  switch (haltedReason) {
    case "completed":
      return [{ type: "finish", finishReason: finish }]
    case "manual_tool_calls":
    case "awaiting_approval":
      return [{ type: "finish", finishReason: "tool-calls" }]
    case "cancelled":
      return [{ type: "abort", reason: "cancelled" }]
    case "error":
      return failureOf(metadata["error"])
    default:
      return [
        { type: "data-troupe-halted", transient: true, data: { reason: haltedReason } },
        { type: "finish", finishReason: haltedReason === "ask_user" ? "stop" : "other" }
      ]
  }
}

const failureOf = (error: unknown): ReadonlyArray<UiChunk> => [
  { type: "data-troupe-error", transient: true, data: { code: errorCode(error) } },
  { type: "error", errorText: errorText(error) }
]

const partName = (part: UiPart): string => ("toolCallId" in part ? part.toolCallId : part.type)

const finishReasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
  error: "error",
  other: "other"
}

/** The data part of an event that no message keeps. */
/** The messages of agents that the step has read (AGENTMSG1). */
const messagesIn = (event: Extract<Event, { readonly type: "step_completed" }>): ReadonlyArray<UiChunk> =>
  agentMessages(event).map((data) => ({ type: "data-troupe-message", transient: true, data }))

const transientData = (
  event: Extract<Event, { readonly type: "request_delayed" | "thread_compacted" | "child_event" }>
): ReadonlyArray<UiChunk> => {
  if (event.type === "child_event") {
    const child = childData(event)
    return child === undefined ? [] : [{ type: "data-troupe-child", transient: true, data: child }]
  }
  if (event.type === "thread_compacted") {
    return [{ type: "data-troupe-compacted", transient: true, data: compactedData(event) }]
  }
  const { type: _, ...data } = event
  return [{ type: "data-troupe-delayed", transient: true, data }]
}
