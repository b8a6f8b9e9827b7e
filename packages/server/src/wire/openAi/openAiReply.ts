/**
 * A chat's events as one choice of OpenAI's chat completions.
 *
 * Owns: the text and calls so far. Does not own the source of the events.
 *
 * OPENAI1. The streamed deltas add up to the whole message.
 * OPENAI2. Only calls that the client answers are sent. Calls of the server's own tools are not.
 * OPENAI3. Reasoning, pages as sources, and images are sent under the names that other servers of this protocol use. A client
 *          that does not read them has the same text.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { Message, Usage } from "@troupe/chat/messages"
import { isQuestion, type StepMessages } from "../index.ts"
import { citationsOf, imagesOf, type UrlCitation } from "./replyParts.ts"

/** A source of the text. */
interface Annotation {
  readonly type: "url_citation"
  readonly url_citation: Omit<UrlCitation, "type">
}

/** An image that the model made. */
interface Image {
  readonly type: "image_url"
  readonly image_url: { readonly url: string }
}

/** A delta of the message. */
export interface Delta {
  readonly role?: "assistant"
  readonly content?: string
  readonly reasoning_content?: string
  readonly annotations?: ReadonlyArray<Annotation>
  readonly images?: ReadonlyArray<Image>
  readonly tool_calls?: ReadonlyArray<{
    readonly index: number
    readonly id?: string
    readonly type?: "function"
    readonly function: { readonly name?: string; readonly arguments: string }
  }>
}

interface Call {
  readonly id: string
  readonly name: string
  written: string
}

export class OpenAiReply {
  readonly #manual: ReadonlySet<string>
  readonly #calls: Array<Call> = []
  #open = new Map<string, number>()
  #content = ""
  #reasoning = ""
  /** The block of the newest reasoning of the step. */
  #block: string | null | undefined
  readonly #annotations: Array<Annotation> = []
  readonly #images: Array<Image> = []
  /** The characters of the step's text so far. */
  #said = 0
  #hasText = false

  /** `manual` are the tools whose calls the client answers. */
  constructor(manual: ReadonlySet<string>) {
    this.#manual = manual
  }

  push(event: Event): ReadonlyArray<Delta> {
    switch (event.type) {
      case "message_started":
        this.#hasText = false
        this.#said = 0
        this.#block = undefined
        return []
      case "message_completed":
        return this.#complete(event.message)
      case "reasoning_delta":
        return this.#reason(event.id, event.delta)
      case "text_delta":
        return this.#say(event.delta)
      case "text_completed":
        return this.#hasText ? [] : this.#say(event.text)
      case "ask_user_requested":
        this.#hasText = false
        return this.#say(event.question)
      case "tool_call_started":
        return this.#begin(event.id, event.name)
      case "tool_call_delta":
        return this.#write(event.id, event.argumentsDelta)
      case "tool_call_completed": {
        const begun = this.#begin(event.id, event.name)
        const at = this.#open.get(event.id)
        const rest =
          at === undefined || this.#calls[at]?.written !== "" ? [] : this.#write(event.id, event.rawArguments)
        this.#open.delete(event.id)
        return [...begun, ...rest]
      }
      default:
        return []
    }
  }

  /** The whole message. */
  get message() {
    return {
      role: "assistant" as const,
      content: this.#content === "" && this.#calls.length > 0 ? null : this.#content,
      refusal: null,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#annotations.length === 0 ? {} : { annotations: this.#annotations }),
      ...(this.#images.length === 0 ? {} : { images: this.#images }),
      ...(this.#calls.length === 0
        ? {}
        : {
            tool_calls: this.#calls.map(({ id, name, written }) => ({
              id,
              type: "function" as const,
              function: { name, arguments: written }
            }))
          })
    }
  }

  #say(delta: string): ReadonlyArray<Delta> {
    if (delta === "") return []
    // The text of each further step is a separate paragraph.
    const content = !this.#hasText && this.#content !== "" ? `\n\n${delta}` : delta
    this.#hasText = true
    this.#content += content
    this.#said += delta.length
    return [{ content }]
  }

  #reason(block: string | null, delta: string): ReadonlyArray<Delta> {
    if (delta === "") return []
    const reasoning_content = this.#block !== block && this.#reasoning !== "" ? `\n\n${delta}` : delta
    this.#block = block
    this.#reasoning += reasoning_content
    return [{ reasoning_content }]
  }

  /** Adds what the fragments of a reply do not have. A document has no form in this protocol. */
  #complete(reply: Parameters<typeof Message.parts>[0]): ReadonlyArray<Delta> {
    const parts = Message.parts(reply)
    const annotations = citationsOf(parts, this.#content.length - this.#said).flatMap(
      (source): ReadonlyArray<Annotation> => {
        if (source.type !== "url_citation") return []
        const { type, ...url_citation } = source
        return [{ type, url_citation }]
      }
    )
    const images = imagesOf(parts).map(({ url }): Image => ({ type: "image_url", image_url: { url } }))
    this.#annotations.push(...annotations)
    this.#images.push(...images)
    return [...(annotations.length === 0 ? [] : [{ annotations }]), ...(images.length === 0 ? [] : [{ images }])]
  }

  #begin(id: string, name: string): ReadonlyArray<Delta> {
    if (!this.#manual.has(name) || this.#open.has(id)) return []
    const index = this.#calls.push({ id, name, written: "" }) - 1
    this.#open.set(id, index)
    return [{ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }]
  }

  #write(id: string, text: string): ReadonlyArray<Delta> {
    const index = this.#open.get(id)
    const call = index === undefined ? undefined : this.#calls[index]
    if (index === undefined || call === undefined || text === "") return []
    call.written += text
    return [{ tool_calls: [{ index, function: { arguments: text } }] }]
  }
}

/**
 * The finish reason; `undefined` when the protocol cannot express it: the run failed, or waits for something a client
 * cannot give.
 */
export const finishReasonOf = ({
  haltedReason,
  finalResponse
}: Pick<ChatResult, "haltedReason" | "finalResponse">): string | undefined => {
  switch (haltedReason) {
    case "manual_tool_calls":
      return "tool_calls"
    case "max_turns":
    case "budget_tokens":
    case "budget_cost":
    case "budget_time":
    case "max_chain_requests":
    case "max_tree_requests":
      return "length"
    case "error":
    case "cancelled":
    case "awaiting_approval":
      return undefined
    default: {
      const said = finalResponse?.finishReason
      return said === "length" || said === "content_filter" ? said : "stop"
    }
  }
}

/** The usage of all requests of the run. */
export const usageOf = ({ steps }: Pick<ChatResult, "steps">) => {
  const usage = steps.reduce((sum, { response }) => Usage.add(sum, response.usage), Usage.empty)
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens, reasoningTokens } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: Usage.totalTokens(usage) ?? inputTokens + outputTokens,
    ...(cachedInputTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } })
  }
}

/** The events of a step that is over, with whole texts. */
export const eventsOfStep = ({ said, behind }: StepMessages): ReadonlyArray<Event> => {
  const calls = new Map(said.toolCalls?.map((call) => [call.id, call]))
  const parts = Message.parts(said).flatMap((part, index): ReadonlyArray<Event> => {
    if (part.type === "text") return [{ type: "text_delta", id: null, delta: part.text }]
    if (part.type === "reasoning") return [{ type: "reasoning_delta", id: String(index), delta: part.text }]
    const call = part.type === "tool_call" ? calls.get(part.toolCallId) : undefined
    if (call === undefined) return []
    const rawArguments = call.rawArguments ?? JSON.stringify(call.arguments)
    return [{ type: "tool_call_completed", id: call.id, name: call.name, arguments: call.arguments, rawArguments }]
  })
  return [
    { type: "message_started", message: said },
    ...parts,
    { type: "message_completed", message: said, finishReason: null },
    ...behind.filter(isQuestion).map((message): Event => ({
      type: "ask_user_requested",
      toolCallId: "",
      toolName: "",
      question: Message.text(message),
      options: {}
    }))
  ]
}
