/**
 * A chat's events as one choice of OpenAI's chat completions.
 *
 * Owns: the text and calls so far. Does not own the source of the events.
 *
 * OPENAI1. The streamed deltas add up to the whole message.
 * OPENAI2. Only calls that the client answers are sent. Calls of the server's own tools are not.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { Usage } from "@troupe/chat/messages"

/** A delta of the message. */
export interface Delta {
  readonly role?: "assistant"
  readonly content?: string
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
  #hasText = false
  #result: ChatResult | undefined

  /** `manual` are the tools whose calls the client answers. */
  constructor(manual: ReadonlySet<string>) {
    this.#manual = manual
  }

  push(event: Event): ReadonlyArray<Delta> {
    switch (event.type) {
      case "message_started":
        this.#hasText = false
        return []
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
      case "chat_completed":
        this.#result = event.result
        return []
      default:
        return []
    }
  }

  /** The result of the run, once it is over. */
  get result(): ChatResult | undefined {
    return this.#result
  }

  /** The whole message. */
  get message() {
    return {
      role: "assistant" as const,
      content: this.#content === "" && this.#calls.length > 0 ? null : this.#content,
      refusal: null,
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
    return [{ content }]
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
export const finishReasonOf = ({ haltedReason, finalResponse }: ChatResult): string | undefined => {
  switch (haltedReason) {
    case "manual_tool_calls":
      return "tool_calls"
    case "max_turns":
    case "budget_tokens":
    case "budget_cost":
    case "budget_time":
    case "max_chain_requests":
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
export const usageOf = ({ steps }: ChatResult) => {
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
