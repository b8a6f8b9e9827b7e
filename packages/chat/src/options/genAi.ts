/**
 * The names and values of OpenTelemetry's semantic conventions for generative AI, as of version 1.42.
 *
 * @source OpenTelemetry, semantic conventions for generative AI: spans, agent spans, metrics
 */
import type { Adapter } from "../adapter/index.ts"
import {
  type AssistantMessage,
  type ContentPart,
  type FinishReason,
  type Message,
  parts as partsOf,
  type Request,
  type Response,
  type ToolCall,
  type Usage
} from "../model/index.ts"
import { describe } from "../values/index.ts"

/** Attributes of a span or of a measurement; an attribute that is `undefined` is left out. */
export type Attributes = Readonly<Record<string, unknown>>

/** The names of providers that the conventions define. */
const wellKnown: ReadonlySet<string> = new Set([
  "anthropic",
  "aws.bedrock",
  "azure.ai.inference",
  "azure.ai.openai",
  "cohere",
  "deepseek",
  "gcp.gemini",
  "gcp.gen_ai",
  "gcp.vertex_ai",
  "groq",
  "ibm.watsonx.ai",
  "mistral_ai",
  "moonshot_ai",
  "openai",
  "perplexity",
  "x_ai"
])

/** The names that provider packages use, by their first words; the first that matches counts. */
const packageNames: ReadonlyArray<readonly [string, string]> = [
  ["amazon-bedrock", "aws.bedrock"],
  ["bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["google.vertex", "gcp.vertex_ai"],
  ["google-vertex", "gcp.vertex_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["xai", "x_ai"]
]

/** `gen_ai.provider.name` of an adapter: `openai` of `openai.responses`. */
export const providerName = (adapter: Pick<Adapter, "name" | "provider"> | undefined): string | undefined => {
  if (adapter === undefined) return undefined
  const { name, provider = name } = adapter
  if (wellKnown.has(provider)) return provider
  const found = packageNames.find(([words]) => provider === words || /^[.-]/.test(after(provider, words)))
  return found?.[1] ?? provider.split(".")[0]
}

/** The text after a beginning; `""` for a text without it. */
const after = (text: string, beginning: string): string =>
  text.startsWith(beginning) ? text.slice(beginning.length) : ""

/** The attributes of the parameters of a request. */
export const samplingAttributes = ({
  temperature,
  maxTokens,
  responseFormat,
  options = {}
}: Partial<Request>): Attributes => ({
  "gen_ai.request.temperature": temperature,
  "gen_ai.request.max_tokens": maxTokens,
  "gen_ai.request.top_p": numeric(options["topP"]),
  "gen_ai.request.top_k": numeric(options["topK"]),
  "gen_ai.request.seed": numeric(options["seed"]),
  "gen_ai.request.presence_penalty": numeric(options["presencePenalty"]),
  "gen_ai.request.frequency_penalty": numeric(options["frequencyPenalty"]),
  "gen_ai.request.stop_sequences": texts(options["stopSequences"]),
  "gen_ai.output.type": responseFormat === undefined ? undefined : responseFormat.type === "text" ? "text" : "json"
})

const numeric = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

const texts = (value: unknown): ReadonlyArray<string> | undefined =>
  Array.isArray(value) && value.every((text) => typeof text === "string") ? value : undefined

export const responseAttributes = ({ id, model, finishReason, usage }: Response): Attributes => ({
  "gen_ai.response.id": id,
  "gen_ai.response.model": model,
  "gen_ai.response.finish_reasons": finishReasons(finishReason),
  ...usageAttributes(usage)
})

/** The attributes of a usage. The conventions have none for a cost. */
export const usageAttributes = (usage: Usage): Attributes => ({
  "gen_ai.usage.input_tokens": usage.inputTokens,
  "gen_ai.usage.output_tokens": usage.outputTokens,
  "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
  "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteInputTokens,
  "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
  "troupe.usage.cost": usage.totalCost
})

/** The finish reasons in the words of the conventions. */
export const finishReasons = (reason: FinishReason | null): ReadonlyArray<string> | undefined =>
  reason === null ? undefined : [finishWord(reason)]

const finishWord = (reason: FinishReason): string => (reason === "tool_calls" ? "tool_call" : reason)

/** The messages of a request, its system instructions and its tools, as JSON. Content: only for a host that opts in. */
export const inputContent = ({ messages, tools }: Pick<Request, "messages" | "tools">): Attributes => {
  const first = messages.findIndex(({ role }) => role !== "system")
  const instructions = messages.slice(0, first < 0 ? messages.length : first)
  const rest = messages.slice(instructions.length)
  return {
    "gen_ai.system_instructions": instructions.length === 0 ? undefined : describe(instructions.flatMap(contentParts)),
    "gen_ai.input.messages": describe(rest.map(asParts)),
    "gen_ai.tool.definitions": tools.length === 0 ? undefined : describe(tools.map(definitionOf))
  }
}

/** The message of a response, as JSON. Content: only for a host that opts in. */
export const outputContent = ({ message, outputText, toolCalls, finishReason }: Response): Attributes => {
  const { metadata, parts, content = outputText } = message ?? {}
  const reply = asParts({
    role: "assistant",
    content: content === "" ? outputText : content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(parts !== undefined && { parts }),
    ...(metadata !== undefined && { metadata })
  })
  const finished = finishReason === null ? {} : { finish_reason: finishWord(finishReason) }
  return { "gen_ai.output.messages": describe([{ ...reply, ...finished }]) }
}

/** The arguments of a call, as JSON. Content: only for a host that opts in. */
export const argumentsContent = ({ arguments: args, rawArguments }: ToolCall): Attributes => ({
  "gen_ai.tool.call.arguments": describe(args ?? rawArguments ?? {})
})

/** The result of a call, as text or JSON. Content: only for a host that opts in. */
export const resultContent = (message: Message): Attributes => ({
  "gen_ai.tool.call.result": typeof message.content === "string" ? message.content : describe(contentParts(message))
})

const definitionOf = ({ name, description, schema }: Request["tools"][number]) => ({
  type: "function",
  name,
  ...(description === "" ? {} : { description }),
  parameters: schema
})

/** A message as the conventions write it: its role and its parts. */
const asParts = (message: Message): { readonly role: string; readonly parts: ReadonlyArray<object> } => ({
  role: message.role,
  parts: message.role === "assistant" ? replyParts(message) : messageParts(message),
  ...(message.role !== "tool" && message.name !== undefined ? { name: message.name } : {})
})

const messageParts = (message: Message): ReadonlyArray<object> =>
  message.role === "tool"
    ? [{ type: "tool_call_response", id: message.toolCallId, response: responseOf(message) }]
    : contentParts(message)

const responseOf = (message: Message): unknown =>
  typeof message.content === "string" ? message.content : contentParts(message)

const contentParts = ({ content }: Message): ReadonlyArray<object> => {
  if (typeof content !== "string") return content.map(partOf)
  return content === "" ? [] : [{ type: "text", content }]
}

const replyParts = (message: AssistantMessage): ReadonlyArray<object> => {
  const calls = new Map(message.toolCalls?.map((call) => [call.id, call]))
  return partsOf(message).flatMap((part): ReadonlyArray<object> => {
    switch (part.type) {
      case "tool_call":
        return callPart(calls.get(part.toolCallId))
      case "provider_tool_call":
        return [{ type: "server_tool_call", id: part.id, name: part.name, server_tool_call: part.arguments }]
      case "provider_tool_result":
        return [{ type: "server_tool_call_response", id: part.toolCallId, server_tool_call_response: part.result }]
      case "source":
        return []
      case "custom":
        return [{ type: part.kind }]
      case "reasoning":
        return part.text === "" ? [] : [partOf(part)]
      default:
        return [partOf(part)]
    }
  })
}

const callPart = (call: ToolCall | undefined): ReadonlyArray<object> => {
  if (call === undefined) return []
  const { id, name, arguments: args, rawArguments } = call
  return [{ type: "tool_call", id, name, arguments: args ?? rawArguments ?? null }]
}

const partOf = (part: ContentPart): object => {
  switch (part.type) {
    case "text":
      return { type: "text", content: part.text }
    case "reasoning":
      return { type: "reasoning", content: part.text }
    case "image":
      return mediaOf(part.image, "mediaType" in part.image ? part.image.mediaType : undefined, "image")
    case "file":
      return mediaOf(part.file, part.mediaType, modalityOf(part.mediaType))
  }
}

const mediaOf = (
  source: { readonly url: string } | { readonly base64: string } | { readonly blob: string },
  mediaType: string | undefined,
  modality: string
): object => {
  const type = mediaType === undefined ? {} : { mime_type: mediaType }
  if ("base64" in source) return { type: "blob", modality, ...type, content: source.base64 }
  if ("blob" in source) return { type: "file", modality, ...type, file_id: source.blob }
  const data = /^data:([^;,]*);base64,(.*)$/s.exec(source.url)
  if (data === null) return { type: "uri", modality, ...type, uri: source.url }
  return { type: "blob", modality, mime_type: mediaType ?? data[1], content: data[2] }
}

const modalityOf = (mediaType: string): string => {
  const [kind = ""] = mediaType.split("/")
  return ["image", "audio", "video"].includes(kind) ? kind : "document"
}

/** A histogram of the conventions. */
export interface Metric {
  readonly name: string
  readonly unit: string
  readonly description: string
  /** The recommended boundaries of its buckets. */
  readonly boundaries: ReadonlyArray<number>
}

const doubled = (first: number, count: number, factor = 2): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, power) => Number((first * factor ** power).toPrecision(12)))

const seconds = { unit: "s", boundaries: doubled(0.01, 14) }

export const tokenUsage: Metric = {
  name: "gen_ai.client.token.usage",
  unit: "{token}",
  description: "Number of input and output tokens used.",
  boundaries: doubled(1, 14, 4)
}

export const requestDuration: Metric = {
  name: "gen_ai.client.operation.duration",
  description: "GenAI operation duration.",
  ...seconds
}

export const timeToFirstChunk: Metric = {
  name: "gen_ai.client.operation.time_to_first_chunk",
  description: "Time to receive the first chunk of the response.",
  ...seconds
}

export const toolDuration: Metric = {
  name: "gen_ai.execute_tool.duration",
  description: "The duration of a single tool execution.",
  ...seconds
}

export const agentDuration: Metric = {
  name: "gen_ai.invoke_agent.duration",
  unit: "s",
  description: "The end-to-end duration of a single agent invocation.",
  boundaries: doubled(0.1, 13)
}
