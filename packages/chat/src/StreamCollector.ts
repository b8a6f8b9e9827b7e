/**
 * Folds events into a response.
 *
 * Owns: the text, the calls, the usage and the error of one model request. Does not own the thread or the tools.
 *
 * COLL1. `apply` is total: an unknown or malformed event changes nothing and never throws.
 * COLL2. An error is sticky: once one was seen, the finish reason is `error`.
 * COLL3. A call's arguments are parsed once, when the call closes; what is not a JSON object is `null`.
 *
 * @module
 * @source ALLM.StreamCollector
 */
import type { Event } from "./Event.ts"
import type { AssistantMessage } from "./Message.ts"
import type { FinishReason, Response } from "./Response.ts"
import { parseArguments, type ToolCall } from "./ToolCall.ts"
import { Usage } from "./Usage.ts"

interface OpenCall {
  readonly id: string
  name: string
  raw: string
  closed: ToolCall | undefined
}

/** The running fold of one model request's events. */
export class StreamCollector {
  #text = ""
  #rewritten = 0
  readonly #calls = new Map<string, OpenCall>()
  #finishReason: FinishReason | null = null
  #rawFinishReason: string | undefined
  #usage: Usage = {}
  #message: AssistantMessage | undefined
  #metadata: Record<string, unknown> = {}
  #failed = false
  /** The response as last asked for, until another event comes. */
  #response: Response | undefined

  /** The text so far. */
  get text(): string {
    return this.#text
  }

  /** How often the text was replaced instead of added to; with its length it tells whether the text changed. */
  get rewritten(): number {
    return this.#rewritten
  }

  /** Whether an error was seen. */
  get failed(): boolean {
    return this.#failed
  }

  /** Folds one event. */
  apply(event: Event): void {
    this.#response = undefined
    switch (event.type) {
      case "text_delta":
        if (typeof event.delta === "string") this.#text += event.delta
        return
      case "text_completed":
        if (typeof event.text === "string" && event.text !== this.#text) {
          this.#text = event.text
          this.#rewritten++
        }
        return
      case "tool_call_started":
        if (typeof event.id === "string" && typeof event.name === "string") this.#open(event.id).name = event.name
        return
      case "tool_call_delta":
        if (typeof event.id === "string" && typeof event.argumentsDelta === "string") {
          this.#open(event.id).raw += event.argumentsDelta
        }
        return
      case "tool_call_completed":
        this.#close(event)
        return
      case "message_started":
        this.#note(event.metadata)
        return
      case "message_completed":
        this.#message = event.message
        this.#finishReason = event.finishReason ?? this.#finishReason
        this.#rawFinishReason = event.rawFinishReason ?? this.#rawFinishReason
        if (event.usage !== undefined) this.#usage = event.usage
        this.#note(event.metadata)
        return
      case "raw_chunk":
        if (isUsageChunk(event.chunk)) this.#usage = event.chunk.usage
        return
      case "error":
        this.fail(event.error)
        return
      default:
        return
    }
  }

  /** Records a failure that came without an event. */
  fail(error: unknown): void {
    this.#response = undefined
    this.#failed = true
    this.#metadata["error"] ??= error
  }

  /** The response as it stands; callable at any time. */
  toResponse(requestId?: string): Response {
    this.#response ??= this.#build()
    return requestId === undefined ? this.#response : { ...this.#response, requestId }
  }

  #build(): Response {
    const { id, model, ...metadata } = this.#metadata
    return {
      ...(typeof id === "string" ? { id } : {}),
      ...(typeof model === "string" ? { model } : {}),
      ...(this.#message === undefined ? {} : { message: this.#message }),
      ...(this.#rawFinishReason === undefined ? {} : { rawFinishReason: this.#rawFinishReason }),
      outputText: this.#text,
      toolCalls: [...this.#calls.values()].map(toolCall),
      finishReason: this.#failed ? "error" : this.#finishReason,
      usage: this.#usage,
      metadata
    }
  }

  #note(metadata: unknown): void {
    if (typeof metadata === "object" && metadata !== null) Object.assign(this.#metadata, metadata)
  }

  #open(id: string): OpenCall {
    const known = this.#calls.get(id)
    if (known !== undefined) return known
    const call: OpenCall = { id, name: "", raw: "", closed: undefined }
    this.#calls.set(id, call)
    return call
  }

  #close(event: Extract<Event, { readonly type: "tool_call_completed" }>): void {
    if (typeof event.id !== "string" || typeof event.name !== "string" || typeof event.rawArguments !== "string") return
    if (typeof event.arguments !== "object" || Array.isArray(event.arguments)) return
    const call = this.#open(event.id)
    call.closed = {
      id: event.id,
      name: event.name,
      arguments: event.arguments,
      rawArguments: event.rawArguments,
      ...(event.metadata === undefined ? {} : { metadata: event.metadata })
    }
  }
}

const toolCall = (call: OpenCall): ToolCall =>
  call.closed ?? { id: call.id, name: call.name, arguments: parseArguments(call.raw), rawArguments: call.raw }

const isUsageChunk = (chunk: unknown): chunk is { readonly usage: Usage } =>
  typeof chunk === "object" &&
  chunk !== null &&
  (chunk as { readonly type?: unknown }).type === "usage" &&
  Usage.safeParse((chunk as { readonly usage?: unknown }).usage).success
