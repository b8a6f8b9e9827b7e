/**
 * Converts the stream parts of an AI SDK model to our events.
 *
 * Owns: the state of one reply. Does not own the stream: its reader passes every part, in order, and how the stream ended.
 *
 * PART1. `message_started` comes first, once, with the first content or with the end of a reply without content. Parts that
 *        only describe the response are held back for it. A failure before it is the `refusal` of the request, and no event.
 * PART2. `message_completed` comes last, once, however the stream ends, and `text_completed` once before it when there was
 *        text.
 * PART7. The message of a reply that its provider paused has `metadata.paused`, so that the turn continues (PAUSE1).
 * PART8. A call that the provider runs once a person allows it is a call of the reply with `metadata.approval`: the id and the provider of
 *        the question (PAPPROVAL1).
 * PART9. The usage that a provider reports with the beginning of a reply is a usage chunk right after `message_started`, so that it counts
 *        when the reply is cancelled or breaks. The usage of the end replaces the counts that it has.
 */
import type { SharedV4Warning } from "@ai-sdk/provider"
import type { AdapterError } from "@troupe/chat/errors"
import type { AdapterEvent } from "@troupe/chat/events"
import {
  type Finish,
  finishOf,
  isMissing,
  isPaused,
  reasonOf,
  reportsNoFinish,
  startUsageOf,
  unexplained,
  usageOf
} from "./accounting.ts"
import { adapterError, unbegun, unfinished } from "./providerError.ts"
import { argumentsOf } from "./programTools.ts"
import { carried } from "./providerOptions.ts"
import { ReplyCalls } from "./replyCalls.ts"
import { ReplyParts, type StreamPart } from "./replyParts.ts"

/** The names of a reply's adapter and provider, and whether raw chunks pass. */
export interface About {
  readonly provider: string
  readonly providerName: string
  readonly rawChunks: boolean
  /** Warnings about the request, before those of the package. */
  readonly warnings?: ReadonlyArray<SharedV4Warning> | undefined
  /** The names of the program's tools, if the request has tools of the provider too. */
  readonly ownTools?: ReadonlySet<string> | undefined
  /** Whether the provider may ask for the approval of a call that it runs. */
  readonly mayAsk?: boolean | undefined
  /** The most characters in the arguments of one call. Default: no bound. */
  readonly maxToolArgumentCharacters?: number | undefined
}

/** The metadata of a text that ended without a reason (PART4). */
const withWarning = ({ warnings, ...about }: Record<string, unknown>): Record<string, unknown> => {
  const warning = { type: "other", message: "the provider gave no finish reason: the reply may be cut off" }
  return { ...about, warnings: [...(Array.isArray(warnings) ? warnings : []), warning] }
}

type CallPart = Extract<StreamPart, { readonly type: "tool-call" }>

/** The reader of one reply. */
export class PartReader {
  readonly #provider: string
  readonly #emit: (event: AdapterEvent) => void
  readonly #rawChunks: boolean
  #started = false
  #completed = false
  /** Whether the end of the reply has been read, which has the whole usage (PART9). */
  #isEnding = false
  #failed = false
  #refusal: AdapterError | undefined
  #isCut = false
  #finish: Finish | undefined
  /** The provider package's own error for a missing finish reason. */
  #noFinish: unknown
  #text = ""
  readonly #parts: ReplyParts
  readonly #calls: ReplyCalls
  readonly #ownTools: ReadonlySet<string> | undefined
  readonly #warnings: NonNullable<About["warnings"]>
  #about: Record<string, unknown> = {}
  #held: Array<Record<string, unknown>> = []
  #usage: ReturnType<typeof usageOf> = {}
  readonly #providerName: string
  readonly #mayAsk: boolean
  /** A call of the provider, until the next part says whether it needs an approval (PART8). */
  #undecided: CallPart | undefined

  /** `provider` is the adapter's name in errors, `providerName` the name of the provider. */
  constructor(
    { provider, providerName, rawChunks, warnings = [], ownTools, mayAsk, maxToolArgumentCharacters }: About,
    emit: (event: AdapterEvent) => void
  ) {
    this.#provider = provider
    this.#providerName = providerName
    this.#mayAsk = mayAsk === true
    this.#parts = new ReplyParts(providerName)
    this.#calls = new ReplyCalls(emit, maxToolArgumentCharacters)
    this.#rawChunks = rawChunks
    this.#warnings = warnings
    if (warnings.length > 0) this.#about["warnings"] = warnings
    this.#ownTools = ownTools
    this.#emit = emit
  }

  read(part: StreamPart): void {
    if (this.#undecided !== undefined && this.#isAsked(this.#undecided, part)) return
    switch (part.type) {
      case "stream-start":
        if (part.warnings?.length > 0) this.#about["warnings"] = [...this.#warnings, ...part.warnings]
        return
      case "response-metadata":
        if (typeof part.id === "string") this.#about["id"] = part.id
        if (typeof part.modelId === "string") this.#about["model"] = part.modelId
        return
      case "raw":
        if (this.#rawChunks) this.#hold({ type: "raw", value: part.rawValue })
        return
      case "custom":
        this.#parts.other(part)
        this.#hold({ ...part })
        this.#usage = { ...this.#usage, ...startUsageOf(part) }
        return
      case "ping":
        return
      case "text-start":
        this.#parts.begin("text", part.id, part.providerMetadata)
        return
      case "text-end":
        this.#parts.end("text", part.id, part.providerMetadata, "citations" in part ? part.citations : undefined)
        return
      case "text-delta":
        this.#parts.add("text", part.id, part.delta, part.providerMetadata)
        if (part.delta === "") return
        this.#start()
        this.#text += part.delta
        this.#emit({ type: "text_delta", id: part.id, delta: part.delta })
        return
      case "reasoning-start":
        this.#parts.begin("reasoning", part.id, part.providerMetadata)
        return
      case "reasoning-end":
        this.#parts.end("reasoning", part.id, part.providerMetadata)
        return
      case "reasoning-delta":
        this.#parts.add("reasoning", part.id, part.delta, part.providerMetadata)
        if (part.delta === "") return
        this.#start()
        this.#emit({ type: "reasoning_delta", id: part.id, delta: part.delta })
        return
      case "tool-input-start":
        this.#start()
        this.#calls.begin(part.id, part.toolName, part.providerExecuted === true || this.#isForeign(part.toolName))
        return
      case "tool-input-delta":
        if (part.delta !== "" && this.#calls.write(part.id, part.delta)) this.#cut()
        return
      case "tool-input-end":
        return
      case "tool-call":
        this.#start()
        this.#call(part)
        return
      case "finish":
        this.#ending(part)
        return
      case "error":
        if (reportsNoFinish(part.error)) this.#noFinish = part.error
        else this.fail(part.error)
        return
      default:
        this.#start()
        this.#parts.other(part)
        this.#raw({ ...part, type: part.type.replaceAll("-", "_") })
    }
  }

  /** The failure before the first content. After it the stream is not read. */
  get refusal(): AdapterError | undefined {
    return this.#refusal
  }

  /** Whether the parts that follow are not read: the request failed before its first content, or a call is too large (PART10). */
  get isOver(): boolean {
    return this.#refusal !== undefined || this.#isCut
  }

  /** Records a failure of the provider or of the transport. */
  fail(error: unknown): void {
    this.#failed = true
    const failure = adapterError(error, this.#provider)
    if (this.#started) this.#emit({ type: "error", error: failure })
    else this.#refusal ??= failure
  }

  /** Ends the stream. A reply without a finish, and without an error that explains it, was cut off. */
  end(): void {
    if (this.#completed) return
    if (this.#undecided !== undefined) this.#isAsked(this.#undecided, undefined)
    const isChatCompletion = this.#provider.endsWith(".chat")
    const finish = reasonOf(this.#finish, this.#calls, isChatCompletion && this.#text.trim() !== "")
    if (finish === undefined && !this.#failed) {
      this.fail(this.#started ? (this.#noFinish ?? unfinished(this.#provider)) : unbegun(this.#provider))
    }
    if (this.#refusal !== undefined) return
    this.#start()
    this.#completed = true
    const text = this.#text
    if (text !== "") this.#emit({ type: "text_completed", id: this.#parts.onlyText ?? null, text })
    const parts = this.#failed ? undefined : this.#parts.whole(this.#calls.ids)
    const metadata = finish === unexplained && !this.#failed ? withWarning(this.#about) : this.#about
    this.#emit({
      type: "message_completed",
      message: {
        role: "assistant",
        content: text,
        ...(parts === undefined ? {} : { parts }),
        ...(isPaused(finish) && !this.#failed ? { metadata: { paused: true } } : {})
      },
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
    if (Object.keys(this.#usage).length > 0 && !this.#isEnding) this.#raw({ type: "usage", usage: this.#usage })
    for (const chunk of this.#held) this.#raw(chunk)
    this.#held = []
  }

  /** Emits a chunk that is no content: packages send such chunks before a failure, too. */
  #hold(chunk: Record<string, unknown>): void {
    if (this.#started) this.#raw(chunk)
    else this.#held.push(chunk)
  }

  #raw(chunk: Record<string, unknown>): void {
    this.#emit({ type: "raw_chunk", chunk })
  }

  #call(part: CallPart): void {
    if (part.providerExecuted !== true) this.#ownCall(part, carried(part.providerMetadata))
    else if (this.#mayAsk) this.#undecided = part
    else this.#providerCall(part)
  }

  #providerCall(part: CallPart): void {
    this.#parts.providerCall(part)
    this.#raw({ ...part, type: "tool_call" })
  }

  /** Whether a part asks for the approval of the call before it; any other part says that the provider runs the call (PART8). */
  #isAsked(call: CallPart, part: StreamPart | undefined): boolean {
    this.#undecided = undefined
    const isAsked = part?.type === "tool-approval-request" && part.toolCallId === call.toolCallId
    if (!isAsked) this.#providerCall(call)
    else {
      const approval = { id: part.approvalId, provider: this.#providerName }
      this.#ownCall(call, { metadata: { ...carried(call.providerMetadata).metadata, approval } })
    }
    return isAsked
  }

  /** Whether a tool is one that the provider runs. */
  #isForeign(name: string): boolean {
    return this.#ownTools?.has(name) === false
  }

  #ownCall(part: CallPart, data: { readonly metadata?: Record<string, unknown> }): void {
    const written: string = typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {})
    const rawArguments = this.#isForeign(part.toolName) ? argumentsOf(written) : written
    const id = this.#calls.complete(part.toolCallId, part.toolName, rawArguments, data)
    if (id !== undefined) this.#parts.call(id)
  }

  /** Ends the reply whose call has too large arguments (PART10). */
  #cut(): void {
    this.#isCut = true
    this.#finish = { reason: "tool_calls", raw: undefined }
    for (const id of this.#calls.cut()) this.#parts.call(id)
  }

  #ending(part: Extract<StreamPart, { type: "finish" }>): void {
    this.#isEnding = true
    this.#usage = { ...this.#usage, ...usageOf(part.usage) }
    if (part.providerMetadata !== undefined) this.#about["providerMetadata"] = part.providerMetadata
    if (this.#noFinish === undefined && !isMissing(part.finishReason)) this.#finish = finishOf(part.finishReason)
  }
}
