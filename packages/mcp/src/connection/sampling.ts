/**
 * The requests of a server to the model of a chat.
 *
 * SAMPLE1. A server asks the model only during a call of a live chat, and only if the option `sampling` allows it or a person does. Its
 *          request goes to the model of the chat without tools, and counts for the budget of the chat and those above.
 * SAMPLE2. A call may ask at most 10 times, with at most 100,000 characters of JSON each, for at most 8,192 tokens each. The end of the call
 *          ends the request.
 */
import type {
  CreateMessageRequest,
  CreateMessageResult,
  SamplingMessageContentBlock
} from "@modelcontextprotocol/client"
import { Chat } from "@troupe/chat"
import { type ContentPart, Message } from "@troupe/chat/messages"
import type { Tool } from "@troupe/chat/tools"
import type { Asked, SampleParams } from "./mcpCall.ts"

/** A request of a server to the model of a chat. Its texts are not verified. */
export interface SamplingRequest {
  /** The name of the server. */
  readonly server: string
  /** The call during which the server asks. */
  readonly toolCall: Tool.ToolContext["toolCall"]
  /** The text of the messages and of the system prompt. */
  readonly text: string
  /** The most tokens of the reply that the server wants. */
  readonly maxTokens: number
}

/**
 * Whether a server may ask the model of a chat.
 *
 * - `allow`: it may
 * - `suspend`: the call waits until a person allows it
 * - a function decides about each request; a throw refuses it
 */
export type Sampling =
  | "allow"
  | "suspend"
  | ((request: SamplingRequest) => "allow" | "suspend" | "deny" | Promise<"allow" | "suspend" | "deny">)

const bounds = { requests: 10, characters: 100_000, tokens: 8_192 } as const

/** What is decided about a request of a server. */
export const verdictOn = async (
  sampling: Sampling | undefined,
  params: SampleParams,
  about: Pick<SamplingRequest, "server" | "toolCall">
): Promise<"allow" | "suspend" | "deny"> => {
  if (sampling === undefined || JSON.stringify(params).length > bounds.characters) return "deny"
  if (typeof sampling === "string") return sampling
  return sampling({ ...about, text: textOf(params), maxTokens: params.maxTokens })
}

/** The question to a person whether a server may ask the model: a form without fields. */
export const questionAbout = (server: string, params: SampleParams): Asked => ({
  mode: "form",
  message: `${server} asks the model of this chat:\n${textOf(params)}`,
  requestedSchema: { type: "object", properties: {} }
})

/** The refusal, as the protocol has it. */
export const refused = (): Error => new Error("The server may not ask the model of this chat")

const textOf = ({ systemPrompt, messages }: SampleParams): string =>
  [
    ...(systemPrompt === undefined ? [] : [systemPrompt]),
    ...messages.map(({ role, content }) => `${role}: ${[content].flat().map(shown).join("\n")}`)
  ].join("\n")

const shown = (block: SamplingMessageContentBlock): string => (block.type === "text" ? block.text : `[${block.type}]`)

/** Sends the requests of one call to the model of its chat (SAMPLE1, SAMPLE2). */
export const samplerOf = ({
  engine,
  chat,
  signal
}: Pick<Tool.ToolContext, "engine" | "chat" | "signal">): ((
  params: SampleParams,
  cancel?: AbortSignal
) => Promise<CreateMessageResult>) => {
  let sent = 0
  return async ({ messages, systemPrompt, maxTokens, temperature }, cancel) => {
    if (engine === undefined || chat?.exhausted === undefined) throw refused()
    const limit = chat.exhausted()
    if (limit !== undefined) throw new Error(`The limit of this chat is reached: ${limit}`)
    if (sent === bounds.requests) throw new Error(`A call may ask the model ${bounds.requests} times`)
    sent += 1
    const thread = messages.map(({ role, content }) => messageOf(role, [content].flat()))
    const response = await Chat.generate(
      { ...engine, tools: [] },
      systemPrompt === undefined ? thread : [Message.system(systemPrompt), ...thread],
      {
        maxTokens: Math.min(maxTokens, bounds.tokens),
        ...(temperature === undefined ? {} : { temperature }),
        signal: cancel === undefined ? signal : AbortSignal.any([signal, cancel])
      }
    )
    chat.count?.(response.usage)
    const { finishReason, outputText: text, metadata } = response
    if (finishReason === "error") throw new Error("The request to the model failed", { cause: metadata["error"] })
    return {
      model: response.model ?? engine.model ?? "unknown",
      role: "assistant",
      content: { type: "text", text },
      stopReason: finishReason === "length" ? "maxTokens" : "endTurn"
    }
  }
}

const messageOf = (
  role: CreateMessageRequest["params"]["messages"][number]["role"],
  blocks: ReadonlyArray<SamplingMessageContentBlock>
): Message.Message => {
  const parts = blocks.map(partOf)
  if (role === "user") return Message.user(parts)
  return Message.assistant(parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n"))
}

const partOf = (block: SamplingMessageContentBlock): ContentPart => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
      return { type: "image", image: { base64: block.data, mediaType: block.mimeType } }
    case "audio":
      return { type: "file", file: { base64: block.data }, mediaType: block.mimeType }
    default:
      throw new Error(`A request to the model with ${block.type} is not supported`)
  }
}
