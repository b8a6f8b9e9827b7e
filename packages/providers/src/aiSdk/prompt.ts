/** Converts our messages to the prompt of an AI SDK model, in the form of its specification version. */
import type {
  JSONObject,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from "@ai-sdk/provider"
import { ContentPart, Message } from "@troupe/chat/messages"
import { givenOptions, handedBack } from "./providerMetadata.ts"

/** The prompt of a request. Prompts of older models differ only in how files and refusals are written; see `optionsInDialect`. */
export const promptOf = (
  messages: ReadonlyArray<Message.Message>,
  providerName: string
): Array<LanguageModelV4Message> => {
  const toolNames = new Map<string, string>()
  const prompt: Array<LanguageModelV4Message> = []
  for (const message of messages) {
    switch (message.role) {
      case "system":
        prompt.push({ role: "system", content: message.content, ...handedBack(message.metadata) })
        break
      case "user": {
        const content = partsOf(message.content).flatMap((part) => userPart(part, providerName))
        prompt.push({ role: "user", content, ...handedBack(message.metadata) })
        break
      }
      case "assistant": {
        for (const call of message.toolCalls ?? []) toolNames.set(call.id, call.name)
        const content = assistantParts(message)
        if (content.length > 0) prompt.push({ role: "assistant", content, ...givenOptions(message.metadata) })
        break
      }
      case "tool": {
        const last = prompt.at(-1)
        const result = toolResult(message, toolNames)
        if (last?.role === "tool") last.content.push(result)
        else prompt.push({ role: "tool", content: [result] })
        break
      }
    }
  }
  return prompt
}

type AssistantPart =
  | LanguageModelV4TextPart
  | LanguageModelV4FilePart
  | LanguageModelV4ReasoningPart
  | LanguageModelV4ToolCallPart

const partsOf = (content: Message.Message["content"]): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content

const userPart = (
  part: ContentPart,
  providerName: string
): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...handedBack(part.metadata) }]
    case "image":
      return [imagePart(part, providerName)]
    case "file":
      return [filePart(part)]
    case "reasoning":
      return []
  }
}

/** Reasoning first, then text and files, then the calls: the order that every provider produces. */
const assistantParts = (message: Extract<Message.Message, { role: "assistant" }>): Array<AssistantPart> => {
  const parts = partsOf(message.content)
  const said = parts.filter((part) => part.type !== "reasoning")
  const thought = [...keptReasoning(message), ...parts.filter((part) => part.type === "reasoning")]
  const onlyText = said.length === 1 ? handedBack(message.metadata) : {}
  return [
    ...thought.map((part): AssistantPart => ({ type: "reasoning", text: part.text, ...handedBack(part.metadata) })),
    ...said.flatMap((part): Array<AssistantPart> =>
      part.type === "text" && part.text !== ""
        ? [{ type: "text", text: part.text, ...onlyText, ...handedBack(part.metadata) }]
        : userPart(part, "")
    ),
    ...(message.toolCalls ?? []).map((call): AssistantPart => ({
      type: "tool-call",
      toolCallId: call.id,
      toolName: call.name,
      input: call.arguments ?? {},
      ...handedBack(call.metadata)
    }))
  ]
}

/** The reasoning that came with a message, kept in its `metadata.reasoning`. */
const keptReasoning = (
  message: Extract<Message.Message, { role: "assistant" }>
): ReadonlyArray<Extract<ContentPart, { type: "reasoning" }>> => {
  const kept = message.metadata?.["reasoning"]
  if (!Array.isArray(kept)) return []
  return kept.flatMap((part) => {
    const read = ContentPart.safeParse(part)
    return read.success && read.data.type === "reasoning" ? [read.data] : []
  })
}

const toolResult = (
  message: Extract<Message.Message, { role: "tool" }>,
  toolNames: ReadonlyMap<string, string>
): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: message.toolCallId,
  toolName: toolNames.get(message.toolCallId) ?? message.name ?? "unknown",
  output: toolOutput(message),
  ...handedBack(message.metadata)
})

/** The result of a tool. A call that did not complete is an error for the provider, if the message has the outcome. */
const toolOutput = (message: Extract<Message.Message, { role: "tool" }>): LanguageModelV4ToolResultOutput => {
  const { content, outcome = "completed" } = message
  const value = typeof content === "string" ? [] : content.flatMap((part) => userPart(part, ""))
  // An error output cannot contain files.
  if (!value.every((part) => part.type === "text")) return { type: "content", value }
  const said = Message.text(message)
  switch (outcome) {
    case "completed":
      return { type: "text", value: said }
    case "denied":
      return { type: "execution-denied", reason: said }
    default:
      return { type: "error-text", value: said }
  }
}

const imagePart = (part: Extract<ContentPart, { type: "image" }>, providerName: string): LanguageModelV4FilePart => {
  const given = handedBack(part.metadata).providerOptions
  const detail: JSONObject = part.detail === undefined || part.detail === "auto" ? {} : { imageDetail: part.detail }
  const own = providerName === "" ? {} : { [providerName]: { ...detail, ...given?.[providerName] } }
  const options = { ...given, ...(Object.keys(own[providerName] ?? {}).length === 0 ? {} : own) }
  return {
    type: "file",
    ...("url" in part.image
      ? located(part.image.url, "image/*")
      : { data: { type: "data", data: part.image.base64 }, mediaType: part.image.mediaType }),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: options })
  }
}

const filePart = (part: Extract<ContentPart, { type: "file" }>): LanguageModelV4FilePart => ({
  type: "file",
  ...("url" in part.file
    ? { ...located(part.file.url, part.mediaType), mediaType: part.mediaType }
    : { data: { type: "data", data: part.file.base64 }, mediaType: part.mediaType }),
  ...(part.filename === undefined ? {} : { filename: part.filename }),
  ...handedBack(part.metadata)
})

/** Splits a `data:` URL: providers take its bytes, not the URL. */
const located = (url: string, mediaType: string): Pick<LanguageModelV4FilePart, "data" | "mediaType"> => {
  const inline = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/s.exec(url)
  return inline === null
    ? { data: { type: "url", url: new URL(url) }, mediaType }
    : {
        data: { type: "data", data: inline[2] ?? "" },
        mediaType: inline[1] === "" ? mediaType : (inline[1] ?? mediaType)
      }
}
