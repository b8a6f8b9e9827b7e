/**
 * Folds events into a response, a step's result, a chat's result.
 *
 * Owns: the text, the reasoning, the calls, the usage and the error of the running model request. Does not own the state that outlives
 * the request (`runCollector.ts`).
 *
 * COLL1. `apply` is total: an unknown or malformed event changes nothing and never throws. Usage values that are not
 *        finite numbers are left out, and so is metadata of a call that is not an object.
 * COLL2. An error is sticky: after an error, the finish reason is `error`.
 * COLL3. A call's arguments are parsed once, when the call closes; arguments that are not a JSON object are `null`.
 *        A reply has one call per id: of two calls completed under the same id the last counts. Arguments that are
 *        too large, or cannot be stored, are `null` too (`storable`).
 * COLL4. A finished step passes usage, metadata and the error to the next step, but neither text nor calls.
 * COLL5. A reply that is not whole keeps its reasoning as `metadata.reasoning`, unless the adapter kept its own there. So
 *        the thread has what readers of the stream saw.
 *
 * @module
 * @source ALLM.StreamCollector
 */
import type { ChatResult, StepHalt, StepResult } from "../record/index.ts"
import type { Event, RequestDelayed } from "./Event.ts"
import { RunCollector, reportedUsage } from "./runCollector.ts"
import {
  type AssistantMessage,
  type ContentPart,
  defaultMaxToolArgumentCharacters,
  type FinishReason,
  parseArguments,
  type Response,
  storableCall,
  type Thread,
  type ToolCall,
  type ToolMessage,
  Usage
} from "../model/index.ts"

interface OpenCall {
  readonly id: string
  name: string
  raw: string
  closed: ToolCall | undefined
}

/**
 * The running fold of the events of a model request, a step or a chat.
 *
 * **Details**: pass the initial thread of a step or chat to fold events that may end before the last event, which has the
 * thread. `maxToolArgumentCharacters` is the option of that name.
 */
export class StreamCollector {
  #text = ""
  #reasoning = ""
  /** The block of the newest reasoning. */
  #block: string | null | undefined
  #rewritten = 0
  readonly #calls = new Map<string, OpenCall>()
  #finishReason: FinishReason | null = null
  #rawFinishReason: string | undefined
  #usage: Usage = {}
  #message: AssistantMessage | undefined
  #metadata: Record<string, unknown> = {}
  #delayed: RequestDelayed | undefined
  #failed = false
  #completed = false
  /** The cached response, until the next event. */
  #response: Response | undefined
  readonly #loop: RunCollector
  readonly #maxToolArgumentCharacters: number

  constructor(thread?: Thread, maxToolArgumentCharacters = defaultMaxToolArgumentCharacters) {
    this.#loop = new RunCollector(thread)
    this.#maxToolArgumentCharacters = maxToolArgumentCharacters
  }

  /** The text so far. */
  get text(): string {
    return this.#text
  }

  /** The reasoning of the running request so far; an empty line is between two blocks. */
  get reasoning(): string {
    return this.#reasoning
  }

  /** The usage that was reported so far. */
  get usage(): Usage {
    return this.#usage
  }

  /**
   * The number of times that the text was replaced. Together with the lengths of the text and of the reasoning it shows
   * whether they changed.
   */
  get rewritten(): number {
    return this.#rewritten
  }

  /** Whether `message_completed` was seen. */
  get completed(): boolean {
    return this.#completed
  }

  /** The wait of the request before it is sent again, until its next event. */
  get delayed(): RequestDelayed | undefined {
    return this.#delayed
  }

  /** Whether an error was seen. */
  get failed(): boolean {
    return this.#failed
  }

  /** The thread after the last finished step, or the initial thread. */
  get thread(): Thread | undefined {
    return this.#loop.thread
  }

  /** The finished steps. */
  get steps(): ReadonlyArray<StepResult> {
    return this.#loop.steps
  }

  /** The tool messages of the running step, in the order they came. */
  get toolResults(): ReadonlyArray<ToolMessage> {
    return this.#loop.toolResults
  }

  /** Why the running step ends the loop: the first halt that was seen. */
  get halt(): StepHalt | undefined {
    return this.#loop.halt
  }

  /** The `ChatResult` of the events so far; `undefined` before `chat_completed`. */
  get chatResult(): ChatResult | undefined {
    return this.#loop.chatResult
  }

  /** Folds one event. */
  apply(event: Event): void {
    if (typeof event !== "object" || event === null) return
    this.#response = undefined
    this.#delayed = undefined
    switch (event.type) {
      case "request_delayed":
        this.#delayed = event
        return
      case "text_delta":
        if (typeof event.delta === "string") this.#text += event.delta
        return
      case "text_completed":
        if (typeof event.text === "string" && event.text !== this.#text) {
          this.#text = event.text
          this.#rewritten++
        }
        return
      case "reasoning_delta":
        if (typeof event.delta === "string") this.#think(event.id, event.delta)
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
        this.#completed = true
        this.#message = event.message
        this.#finishReason = event.finishReason ?? this.#finishReason
        this.#rawFinishReason = event.rawFinishReason ?? this.#rawFinishReason
        this.#usage = reportedUsage(event.usage) ?? this.#usage
        this.#note(event.metadata)
        return
      case "raw_chunk":
        if (isUsageChunk(event.chunk)) this.#usage = event.chunk.usage
        return
      case "error":
        this.fail(event.error)
        return
      case "step_completed":
        if (this.#loop.finish(event)) this.#startOver()
        return
      default:
        this.#loop.apply(event)
        return
    }
  }

  /** Records a failure that came without an event. */
  fail(error: unknown): void {
    this.#response = undefined
    this.#delayed = undefined
    this.#failed = true
    this.#metadata["error"] ??= error
  }

  /** The response so far; callable at any time. */
  toResponse(requestId?: string): Response {
    this.#response ??= this.#build()
    return requestId === undefined ? this.#response : { ...this.#response, requestId }
  }

  /**
   * The running step so far.
   *
   * **Errors**: throws a `TypeError` without a thread.
   */
  toStepResult(): StepResult {
    return this.#loop.step(this.toResponse())
  }

  /**
   * The chat's result. For an unfinished chat the reason is `cancelled`, or `error` after an error. It has the finished
   * steps; without any, the final response is the unfinished reply.
   *
   * **Errors**: throws a `TypeError` without a thread.
   */
  toChatResult(): ChatResult {
    if (this.#loop.chatResult !== undefined) return this.#loop.chatResult
    return {
      thread: this.#loop.threadFor("a chat result"),
      finalResponse: this.steps.at(-1)?.response ?? this.toResponse(),
      steps: this.steps,
      haltedReason: this.#failed ? "error" : "cancelled",
      pendingToolCalls: [],
      metadata: this.#failed ? { error: this.#metadata["error"] } : {}
    }
  }

  /** Begins the next step (COLL4). */
  #startOver(): void {
    this.#text = ""
    this.#reasoning = ""
    this.#block = undefined
    this.#rewritten++
    this.#calls.clear()
    this.#finishReason = null
    this.#rawFinishReason = undefined
    this.#message = undefined
  }

  #think(block: string | null, delta: string): void {
    if (block !== this.#block && this.#reasoning !== "") this.#reasoning += "\n\n"
    this.#block = block
    this.#reasoning += delta
  }

  #build(): Response {
    // Reading the text joins its deltas, which would be kept as long as the text.
    this.#text.charCodeAt(0)
    const { id, model, requestId, ...metadata } = this.#metadata
    return {
      ...(typeof id === "string" ? { id } : {}),
      ...(typeof requestId === "string" ? { requestId } : {}),
      ...(typeof model === "string" ? { model } : {}),
      ...(this.#message === undefined ? {} : { message: this.#message }),
      ...(this.#rawFinishReason === undefined ? {} : { rawFinishReason: this.#rawFinishReason }),
      outputText: this.#text.toWellFormed(),
      toolCalls: [...this.#calls.values()].map((call) => this.#callOf(call)),
      finishReason: this.#failed ? "error" : this.#finishReason,
      usage: this.#usage,
      metadata: { ...this.#unfinishedReasoning(), ...metadata }
    }
  }

  /** The reasoning of a reply that is not whole (COLL5); the message of a whole reply has its own. */
  #unfinishedReasoning(): { readonly reasoning?: ReadonlyArray<ContentPart> } {
    const isWhole = this.#completed && !this.#failed && this.#finishReason !== "error"
    if (isWhole || this.#reasoning === "") return {}
    return { reasoning: [{ type: "reasoning", text: this.#reasoning.toWellFormed() }] }
  }

  #note(metadata: unknown): void {
    if (typeof metadata === "object" && metadata !== null) Object.assign(this.#metadata, metadata)
  }

  /** Completes a call that its adapter did not complete. */
  #callOf({ closed, id, name, raw }: OpenCall): ToolCall {
    if (closed !== undefined) return closed
    const call: ToolCall = { id, name, arguments: parseArguments(raw), rawArguments: raw }
    return storableCall(call, this.#maxToolArgumentCharacters)
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
    const { metadata, problem } = event
    const call = this.#open(event.id)
    call.closed = {
      id: event.id,
      name: event.name,
      arguments: event.arguments,
      rawArguments: event.rawArguments,
      ...(typeof problem === "string" ? { problem } : {}),
      ...(typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) ? { metadata } : {})
    }
  }
}

const isUsageChunk = (chunk: unknown): chunk is { readonly usage: Usage } =>
  typeof chunk === "object" &&
  chunk !== null &&
  (chunk as { readonly type?: unknown }).type === "usage" &&
  Usage.safeParse((chunk as { readonly usage?: unknown }).usage).success
