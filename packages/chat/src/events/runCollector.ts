/**
 * The state of a fold of events beyond one model request.
 *
 * Owns: the latest thread, the tool messages and the halt of the running step, the finished steps, the chat's result.
 * Does not own the response being folded.
 *
 * LOOP1. Of several halts in one step the halt of `step_completed` counts, else the first halt that was seen.
 * LOOP2. When a step finishes, its tool messages and halt are reset for the next step. Its tool messages are those of its
 *        thread, in call order, if the thread has any.
 */
import type { ChatResult, StepHalt, StepResult } from "../record/index.ts"
import type { Event } from "./Event.ts"
import {
  ContentPart,
  goesOn,
  type Response,
  type Thread,
  type ToolCall,
  type ToolMessage,
  Usage
} from "../model/index.ts"
import { awaitingUser, describe } from "../values/index.ts"

/** The running fold of a chat. */
export class RunCollector {
  #thread: Thread | undefined
  readonly #steps: Array<StepResult> = []
  #toolResults: ReadonlyArray<ToolMessage> = []
  #halt: StepHalt | undefined
  #chatResult: ChatResult | undefined

  constructor(thread: Thread | undefined) {
    this.#thread = thread
  }

  get thread(): Thread | undefined {
    return this.#thread
  }

  get steps(): ReadonlyArray<StepResult> {
    return this.#steps
  }

  get toolResults(): ReadonlyArray<ToolMessage> {
    return this.#toolResults
  }

  get halt(): StepHalt | undefined {
    return this.#halt
  }

  get chatResult(): ChatResult | undefined {
    return this.#chatResult
  }

  /** Folds a tool event or `chat_completed`. */
  apply(event: Event): void {
    switch (event.type) {
      case "tool_result_encoded":
        return this.#answer(event.id, event.content, event.parts)
      case "tool_halt": {
        const { toolCallId, reason, result, content, parts } = event
        if (typeof toolCallId !== "string" || typeof reason !== "string") return
        this.#halt ??=
          reason === "tool_error"
            ? { type: "tool_error", toolCallId, error: result }
            : { type: "halt", toolCallId, reason, result }
        return this.#answer(toolCallId, content ?? describe(result), parts)
      }
      case "ask_user_requested": {
        const { toolCallId, question, options } = event
        if (typeof toolCallId !== "string" || typeof question !== "string") return
        this.#halt ??= { type: "question", toolCallId, question, options }
        return this.#answer(toolCallId, awaitingUser)
      }
      case "chat_completed":
        if (isObject(event.result)) this.#chatResult = event.result
        return
      default:
        return
    }
  }

  /** Folds `step_completed`; returns `false` for a malformed event. */
  finish(event: Extract<Event, { readonly type: "step_completed" }>): boolean {
    const { response, thread, mode, manualToolCalls, pendingApprovals, halt, error } = event
    if (!isObject(response) || !isObject(thread)) return false
    this.#thread = thread
    if (halt !== undefined) this.#halt = halt
    if (response.finishReason === "tool_calls") this.#toolResults = resultsIn(thread) ?? this.#toolResults
    const folded = this.step(response, mode ?? "auto", manualToolCalls ?? [])
    const step = pendingApprovals === undefined ? folded : { ...folded, done: true, pendingApprovals }
    this.#steps.push(error === undefined ? step : { ...step, done: true, error })
    this.#toolResults = []
    this.#halt = undefined
    return true
  }

  /** The result of the running step if it ended with this response. */
  step(
    response: Response,
    mode: "auto" | "manual" = "auto",
    manualToolCalls: ReadonlyArray<ToolCall> = []
  ): StepResult {
    const called = response.finishReason === "tool_calls"
    return {
      thread: this.threadFor("a step result"),
      response,
      toolResults: this.#toolResults,
      done: this.#halt !== undefined || !goesOn(response),
      mode: called ? mode : "auto",
      halt: this.#halt,
      manualToolCalls,
      truncatedToolCalls: called ? [] : response.toolCalls
    }
  }

  /** The thread; throws a `TypeError` without a thread. */
  threadFor(what: string): Thread {
    if (this.#thread === undefined) {
      throw new TypeError(`${what} requires a thread: make the collector with one, or ask it for toResponse()`)
    }
    return this.#thread
  }

  #answer(toolCallId: unknown, text: unknown, parts?: unknown): void {
    if (typeof toolCallId !== "string" || typeof text !== "string") return
    const content = isContent(parts) ? parts : text
    this.#toolResults = [...this.#toolResults, { role: "tool", toolCallId, content }]
  }
}

/** The tool messages at the end of a thread; `undefined` without any. */
const resultsIn = ({ messages }: { readonly messages: unknown }): ReadonlyArray<ToolMessage> | undefined => {
  if (!Array.isArray(messages)) return undefined
  const from = messages.findLastIndex((message: unknown) => !isToolMessage(message)) + 1
  return from === messages.length ? undefined : messages.slice(from).filter(isToolMessage)
}

const isToolMessage = (message: unknown): message is ToolMessage =>
  typeof message === "object" && message !== null && (message as { readonly role?: unknown }).role === "tool"

const isContent = (parts: unknown): parts is ReadonlyArray<ContentPart> =>
  Array.isArray(parts) && parts.every((part) => ContentPart.safeParse(part).success)

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null

/**
 * The valid fields of a usage report; fields of the wrong type are left out. `undefined` for a value that is no object.
 */
export const reportedUsage = (reported: unknown): Usage | undefined => {
  if (typeof reported !== "object" || reported === null) return undefined
  try {
    if (Usage.safeParse(reported).success) return reported
    return Object.fromEntries(Object.entries(reported).filter(([field, value]) => fits(field, value)))
  } catch {
    return undefined
  }
}

const fits = (field: string, value: unknown): boolean => Usage.safeParse({ [field]: value }).success

/** Whether a usage has a cost. */
export const hasCost = ({ inputCost, outputCost, totalCost }: Usage): boolean =>
  (totalCost ?? inputCost ?? outputCost) !== undefined
