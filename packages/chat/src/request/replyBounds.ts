/**
 * Bounds what an adapter may yield in one reply: the kinds of events, and their size.
 *
 * Owns: the counts of one reply. Does not own the stream, nor the fold of its events.
 *
 * REPLY1. An adapter yields adapter events only. After `message_completed` it yields nothing but `raw_chunk` and `error`.
 *         Any other event ends the request with an `AdapterError` (`malformed_response`).
 * REPLY2. A value that is no event is skipped. The 1,001st in one reply ends the request with that error.
 * REPLY3. A reply of more than `maxReplyCharacters` ends the request with an `AdapterError` (`reply_too_large`). The count
 *         includes its text, reasoning, parts and metadata, the names, arguments and metadata of its calls, and 10 characters for
 *         each value, so that a stream of empty events ends too. A repetition of an earlier event is not counted again. Its
 *         images and files, and the results of calls that the provider ran, count for `maxFileBytes` instead.
 * REPLY4. A value that exceeds a bound is discarded completely.
 * ASRC6. A stream that exceeds the bounds of a reply ends with one `error` event. So does a stream whose message cannot be
 *        stored.
 */
import { AdapterError, isRecord } from "../errors/index.ts"
import {
  type AdapterEvent,
  isEvent,
  type MessageCompleted,
  type MessageStarted,
  type ToolCallCompleted
} from "../events/index.ts"
import { jsonSize } from "../json/index.ts"
import { bytesOf, type ContentPart, isMedia, withoutData } from "../model/index.ts"

/** The most values in one reply that are no events. */
const mostInvalid = 1_000

/** The characters that each value counts, whatever it contains. */
const charactersOfValue = 10

export class ReplyBounds {
  readonly #most: number
  readonly #mostBytes: number
  /** The bytes of the largest list of parts. */
  #fileBytes = 0
  #left: number
  #invalid = 0
  #isCompleted = false
  /** The characters of argument fragments whose call is not completed yet. */
  #fragments = 0
  /** The characters of streamed text, and of streamed reasoning. */
  #text = 0
  #reasoning = 0
  /** The call of the last fragment: its id counts once. */
  #fragmentId: unknown

  constructor({
    maxReplyCharacters,
    maxFileBytes
  }: {
    readonly maxReplyCharacters: number
    readonly maxFileBytes: number
  }) {
    this.#most = maxReplyCharacters
    this.#left = maxReplyCharacters
    this.#mostBytes = maxFileBytes
  }

  /** Reads the next value. */
  read(value: unknown): AdapterEvent | AdapterError | undefined {
    this.#left -= charactersOfValue
    if (typeof value !== "object" || value === null) return this.#foreign(value)
    const event = value as AdapterEvent
    const characters = this.#charactersOf(event)
    if (characters === undefined) return this.#foreign(value)
    if (this.#isCompleted && event.type !== "raw_chunk" && event.type !== "error") {
      return malformed(`yielded a ${event.type} event after message_completed; end the stream there`)
    }
    this.#left -= characters
    if (this.#left < 0) return this.#tooLarge()
    if (this.#fileBytes > this.#mostBytes) return this.#tooManyBytes()
    if (event.type === "message_completed") this.#isCompleted = true
    return event
  }

  #foreign(value: unknown): AdapterError | undefined {
    if (isEvent(value)) return malformed(`yielded a ${value.type} event, which only a step or a chat emits`)
    if (++this.#invalid > mostInvalid) {
      return malformed(`yielded more than ${mostInvalid} values that are no events; yield AdapterEvents`)
    }
    return this.#left < 0 ? this.#tooLarge() : undefined
  }

  /** The characters that an event adds; `undefined` for a value that is no event of an adapter. */
  #charactersOf(event: AdapterEvent): number | undefined {
    switch (event.type) {
      case "text_delta": {
        const length = lengthOf(event.delta)
        this.#text += length
        return length
      }
      case "tool_call_started":
        return lengthOf(event.id) + lengthOf(event.name)
      case "tool_call_delta": {
        const length = lengthOf(event.argumentsDelta)
        this.#fragments += length
        if (event.id === this.#fragmentId) return length
        this.#fragmentId = event.id
        return length + lengthOf(event.id)
      }
      case "tool_call_completed":
        return this.#charactersOfCall(event)
      case "reasoning_delta": {
        const length = lengthOf(event.delta)
        this.#reasoning += length
        return length
      }
      case "raw_chunk":
        return charactersIn(event.chunk)
      case "text_completed":
        return this.#again(lengthOf(event.text))
      case "message_completed":
        return this.#charactersOfMessage(event) + lengthOf(event.finishReason) + lengthOf(event.rawFinishReason)
      case "message_started":
        return this.#charactersOfMessage(event)
      case "error":
        return 0
      default:
        return undefined
    }
  }

  /** Counts arguments once, as text or as an object, whichever is longer. */
  #charactersOfCall(event: ToolCallCompleted): number {
    const { id, name, problem, rawArguments, arguments: parsed, metadata } = event
    const said = lengthOf(id) + lengthOf(name) + lengthOf(problem) + this.#sizeOf(metadata)
    const length = Math.max(lengthOf(rawArguments), this.#sizeOf(parsed))
    const counted = Math.min(length, this.#fragments)
    this.#fragments -= counted
    return said + length - counted
  }

  #charactersOfMessage({ message, metadata }: MessageStarted | MessageCompleted): number {
    const {
      content,
      metadata: kept,
      parts
    } = (message as
      | { readonly content?: unknown; readonly metadata?: unknown; readonly parts?: unknown }
      | null
      | undefined) ?? {}
    const text = this.#again(
      typeof content === "string" ? content.length : this.#sizeOf({ content: this.#counted(content) })
    )
    const noted =
      (kept === undefined ? 0 : this.#beyondReasoning(kept)) +
      (metadata === undefined ? 0 : this.#beyondReasoning(metadata))
    return text + noted + (parts === undefined ? 0 : this.#beyondStreamed(this.#counted(parts)))
  }

  /** Counts the bytes of a list of parts, and returns the parts without these. */
  #counted(parts: unknown): unknown {
    if (!Array.isArray(parts)) return parts
    let bytes = 0
    const rest = parts.map((part: unknown) => {
      if (!isRecord(part)) return part
      if (isFile(part)) {
        bytes += bytesOf(part)
        return withoutData(part)
      }
      if (part["type"] !== "provider_tool_result" || part["result"] === undefined) return part
      bytes += Math.ceil((jsonSize(part["result"], 2 * this.#mostBytes) * 3) / 4)
      return { ...part, result: null }
    })
    this.#fileBytes = Math.max(this.#fileBytes, bytes)
    return rest
  }

  /** The size of parts beyond the text and the reasoning that they repeat. */
  #beyondStreamed(parts: unknown): number {
    return Math.max(0, this.#sizeOf(parts) - this.#text - this.#reasoning)
  }

  /** The size of metadata beyond the reasoning that it repeats. */
  #beyondReasoning(metadata: unknown): number {
    return Math.max(0, this.#sizeOf(metadata) - this.#reasoning)
  }

  /** The size of an object, measured no further than the bound requires. */
  #sizeOf(value: unknown): number {
    return typeof value === "object" && value !== null ? jsonSize(value, 2 * this.#most) : lengthOf(value)
  }

  /** The characters of text that repeats earlier text: 0, unless it is longer than a whole reply may be. */
  #again(length: number): number {
    return length > this.#most ? length : 0
  }

  #tooManyBytes(): AdapterError {
    return new AdapterError("reply_too_large", {
      message: `The images and files of the reply have more than ${this.#mostBytes} bytes; ask for less, or raise maxFileBytes`,
      metadata: { maxFileBytes: this.#mostBytes }
    })
  }

  #tooLarge(): AdapterError {
    return new AdapterError("reply_too_large", {
      message: `The reply is larger than ${this.#most} characters; ask for less, or raise maxReplyCharacters`,
      metadata: { maxReplyCharacters: this.#most }
    })
  }
}

const malformed = (what: string): AdapterError =>
  new AdapterError("malformed_response", { message: `The adapter ${what}` })

/** Whether a value is an image or a file with a source, as an adapter in JavaScript may yield it. */
const isFile = (
  part: Readonly<Record<string, unknown>>
): part is Readonly<Record<string, unknown>> & Extract<ContentPart, { readonly type: "image" | "file" }> => {
  const type = part["type"]
  if (typeof type !== "string" || !isMedia({ type })) return false
  const source = part[type]
  return isRecord(source) && (typeof source["url"] === "string" || typeof source["base64"] === "string")
}

const lengthOf = (text: unknown): number => (typeof text === "string" ? text.length : 0)

const charactersIn = (chunk: unknown): number => {
  if (typeof chunk !== "object" || chunk === null) return lengthOf(chunk)
  const { delta, text } = chunk as { readonly delta?: unknown; readonly text?: unknown }
  return lengthOf(delta) + lengthOf(text)
}
