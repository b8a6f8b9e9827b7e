/**
 * Converts the stream parts of an AI SDK model to our events.
 *
 * Owns: the state of one reply. Does not own the stream: its reader passes every part, in order, and how the stream ended.
 *
 * PART1. `message_started` comes first, once; parts that only describe the response are held back for it.
 * PART2. `message_completed` comes last, once, however the stream ends, and `text_completed` once before it when there was
 *        text.
 * PART3. A call is completed only when the provider completed it, and started before that even without a start of the
 *        provider. A call that the provider runs itself is never one of ours.
 * PART4. After an error the finish reason is `error`. When the provider completed a call and gave the reason `stop` or
 *        `other`, the reason is `tool_calls`, and `rawFinishReason` is the provider's. Every other reason is the
 *        provider's. A reply without a reason is an error, unless a call in it has all of its arguments.
 * PART5. Only the arguments of a completed call are parsed.
 */
import type { LanguageModelV2StreamPart, LanguageModelV3StreamPart, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { AdapterEvent } from "@troupe/chat/events"
import { type ContentPart, ToolCall } from "@troupe/chat/messages"
import { type Finish, finishOf, isMissing, reportsNoFinish, usageOf } from "./accounting.ts"
import { adapterError, unfinished } from "./providerError.ts"
import { carried, merged, type ProviderData } from "./providerMetadata.ts"

/** A stream part of any specification version. */
export type StreamPart = LanguageModelV4StreamPart | LanguageModelV3StreamPart | LanguageModelV2StreamPart

interface Block {
  text: string
  data: ProviderData | undefined
}

/** The reader of one reply. */
export class PartReader {
  readonly #provider: string
  readonly #emit: (event: AdapterEvent) => void
  readonly #rawChunks: boolean
  #started = false
  #completed = false
  #failed = false
  #finish: Finish | undefined
  /** The provider package's own error for a missing finish reason. */
  #noFinish: unknown
  /** Whether the provider completed a call for us, and whether one has all of its arguments (PART4). */
  #hasCall = false
  #hasWholeCall = false
  #text = ""
  readonly #texts = new Map<string, Block>()
  readonly #reasoning = new Map<string, Block>()
  readonly #calls = new Set<string>()
  readonly #foreignCalls = new Set<string>()
  #about: Record<string, unknown> = {}
  #heldRaw: Array<unknown> = []
  #usage: ReturnType<typeof usageOf> = {}

  constructor(provider: string, rawChunks: boolean, emit: (event: AdapterEvent) => void) {
    this.#provider = provider
    this.#rawChunks = rawChunks
    this.#emit = emit
  }

  /** Reads one part. */
  read(part: StreamPart): void {
    switch (part.type) {
      case "stream-start":
        if (part.warnings?.length > 0) this.#about["warnings"] = part.warnings
        return
      case "response-metadata":
        if (typeof part.id === "string") this.#about["id"] = part.id
        if (typeof part.modelId === "string") this.#about["model"] = part.modelId
        return
      case "raw":
        if (!this.#rawChunks) return
        if (this.#started) this.#raw({ type: "raw", value: part.rawValue })
        else this.#heldRaw.push(part.rawValue)
        return
      case "ping":
        return
      case "text-start":
      case "text-end":
        this.#block(this.#texts, part.id, "", part.providerMetadata)
        return
      case "text-delta":
        this.#start()
        this.#block(this.#texts, part.id, part.delta, part.providerMetadata)
        if (part.delta === "") return
        this.#text += part.delta
        this.#emit({ type: "text_delta", id: part.id, delta: part.delta })
        return
      case "reasoning-start":
      case "reasoning-end":
        this.#block(this.#reasoning, part.id, "", part.providerMetadata)
        return
      case "reasoning-delta":
        this.#start()
        this.#block(this.#reasoning, part.id, part.delta, part.providerMetadata)
        if (part.delta !== "") this.#raw({ type: "reasoning_delta", id: part.id, delta: part.delta })
        return
      case "tool-input-start":
        this.#start()
        if (part.providerExecuted === true) this.#foreignCalls.add(part.id)
        else this.#startCall(part.id, part.toolName)
        return
      case "tool-input-delta":
        if (part.delta === "" || this.#foreignCalls.has(part.id)) return
        this.#emit({ type: "tool_call_delta", id: part.id, argumentsDelta: part.delta })
        return
      case "tool-input-end":
        return
      case "tool-call":
        this.#start()
        this.#call(part)
        return
      case "finish":
        this.#start()
        this.#ending(part)
        return
      case "error":
        if (reportsNoFinish(part.error)) this.#noFinish = part.error
        else this.fail(part.error)
        return
      default:
        this.#start()
        this.#raw({ ...part, type: part.type.replaceAll("-", "_") })
    }
  }

  /** Records a failure of the provider or of the transport. */
  fail(error: unknown): void {
    this.#start()
    this.#failed = true
    this.#emit({ type: "error", error: adapterError(error, this.#provider) })
  }

  /** Ends the stream. A reply without a finish, and without an error that explains it, was cut off. */
  end(): void {
    if (this.#completed) return
    const finish = this.#finished()
    if (finish === undefined && !this.#failed) this.fail(this.#noFinish ?? unfinished(this.#provider))
    this.#completed = true
    const text = this.#text
    if (text !== "") this.#emit({ type: "text_completed", id: this.#onlyText()?.[0] ?? null, text })
    const reasoning = [...this.#reasoning.values()].flatMap(reasoningPart)
    const kept = {
      ...carried(this.#onlyText()?.[1].data).metadata,
      ...(reasoning.length === 0 ? {} : { reasoning })
    }
    const metadata = { ...this.#about, ...(reasoning.length === 0 ? {} : { reasoning }) }
    this.#emit({
      type: "message_completed",
      message: { role: "assistant", content: text, ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }) },
      finishReason: this.#failed ? "error" : (finish?.reason ?? "error"),
      ...(finish?.raw === undefined ? {} : { rawFinishReason: finish.raw }),
      usage: this.#usage,
      ...(Object.keys(metadata).length === 0 ? {} : { metadata })
    })
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    const { id, model, ...rest } = this.#about
    this.#about = rest
    const metadata = { ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) }
    this.#emit({
      type: "message_started",
      message: { role: "assistant", content: "" },
      ...(Object.keys(metadata).length === 0 ? {} : { metadata })
    })
    for (const value of this.#heldRaw) this.#raw({ type: "raw", value })
    this.#heldRaw = []
  }

  #raw(chunk: Record<string, unknown>): void {
    this.#emit({ type: "raw_chunk", chunk })
  }

  #block(blocks: Map<string, Block>, id: string, delta: string, data: ProviderData | undefined): void {
    const block = blocks.get(id)
    if (block === undefined) {
      blocks.set(id, { text: delta, data })
    } else {
      block.text += delta
      if (data !== undefined) block.data = merged(block.data, data)
    }
  }

  /** A provider's metadata of a text is returned only when the text is the whole message. */
  #onlyText(): [string, Block] | undefined {
    const said = [...this.#texts].filter(([, block]) => block.text !== "")
    return said.length === 1 ? said[0] : undefined
  }

  #startCall(id: string, name: string): void {
    if (this.#calls.has(id)) return
    this.#calls.add(id)
    this.#emit({ type: "tool_call_started", id, name })
  }

  #call(part: Extract<StreamPart, { readonly type: "tool-call" }>): void {
    if (part.providerExecuted === true) {
      this.#raw({ ...part, type: "tool_call" })
      return
    }
    this.#startCall(part.toolCallId, part.toolName)
    const rawArguments: string = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {})
    const args = ToolCall.parseArguments(rawArguments)
    this.#hasCall = true
    this.#hasWholeCall ||= args !== null
    this.#emit({
      type: "tool_call_completed",
      id: part.toolCallId,
      name: part.toolName,
      arguments: args,
      rawArguments,
      ...carried(part.providerMetadata)
    })
  }

  #ending(part: Extract<StreamPart, { type: "finish" }>): void {
    this.#usage = usageOf(part.usage)
    if (part.providerMetadata !== undefined) this.#about["providerMetadata"] = part.providerMetadata
    if (this.#noFinish === undefined && !isMissing(part.finishReason)) this.#finish = finishOf(part.finishReason)
  }

  /** Why the reply ended, once it has (PART4). */
  #finished(): Finish | undefined {
    const said = this.#finish
    if (said === undefined) return this.#hasWholeCall ? { reason: "tool_calls", raw: undefined } : undefined
    const { reason, raw = reason } = said
    return this.#hasCall && (reason === "stop" || reason === "other") ? { reason: "tool_calls", raw } : said
  }
}

const reasoningPart = ({ text, data }: Block): ReadonlyArray<Extract<ContentPart, { type: "reasoning" }>> =>
  text === "" && data === undefined ? [] : [{ type: "reasoning", text, ...carried(data) }]
