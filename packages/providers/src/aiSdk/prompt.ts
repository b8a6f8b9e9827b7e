/** Converts our messages to the prompt of an AI SDK model, in the form of its specification version. */
import type {
  JSONObject,
  JSONValue,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningFilePart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from "@ai-sdk/provider"
import { type ContentPart, Message, ToolCall } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { acceptedBy } from "./foreignHistory.ts"
import { givenOptions, handedBack } from "./providerOptions.ts"
import { type Declared, freeTextOf, type InForm, outputInForm } from "./programTools.ts"
import { isBlank, sendable } from "./sendablePrompt.ts"
import { isRead, type ToolFiles } from "./toolFiles.ts"
import type { AssistantPart } from "./replyParts.ts"

/** The prompt of a request. Prompts of older models differ only in how files and refusals are written; see `optionsInDialect`. */
export const promptOf = (
  { messages, ...declared }: Pick<Request, "messages"> & Declared,
  providerName: string,
  files: ToolFiles
): Array<LanguageModelV4Message> => {
  const calls = new Map<string, ToolCall.ToolCall>()
  const answered = new Set<string>()
  const prompt: Array<LanguageModelV4Message> = []
  /** What the model reads after the results that were written last (PTOOL4). */
  const beside: Array<LanguageModelV4TextPart | LanguageModelV4FilePart> = []
  const endResults = (): void => {
    if (beside.length > 0) prompt.push({ role: "user", content: beside.splice(0) })
  }
  for (const message of messages) {
    if (message.role !== "tool") endResults()
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
        for (const call of message.toolCalls ?? []) calls.set(call.id, call)
        const content = assistantParts(message, providerName, declared)
        if (content.length > 0) prompt.push({ role: "assistant", content, ...givenOptions(message.metadata) })
        break
      }
      case "tool": {
        const last = prompt.at(-1)
        const call = calls.get(message.toolCallId)
        const approval = approvalOf(call)
        if (approval !== undefined && approval.provider !== providerName) break
        if (approval !== undefined) answered.add(message.toolCallId)
        const toolName = call?.name ?? message.name
        const inForm = toolOutput(message, toolName, declared, providerName, files)
        const more = (inForm.files ?? []).filter((part) => isRead(part, files))
        if (approval === undefined && (inForm.beside !== undefined || more.length > 0)) {
          const text = inForm.beside ?? "it has these images and files, too"
          beside.push({ type: "text", text: `The result of the call ${message.toolCallId} of ${toolName}: ${text}` })
          beside.push(...more.flatMap((part) => userPart(part, providerName)))
        }
        const result =
          approval === undefined ? toolResult(message, call, inForm.output) : approvalResponse(message, approval.id)
        if (last?.role === "tool") last.content.push(result)
        else prompt.push({ role: "tool", content: [result] })
        break
      }
    }
  }
  endResults()
  return acceptedBy(sendable(prompt, goesOn(messages.at(-1)), answered), providerName)
}

/** Whether the model is to continue after this message: a result, or a reply that its provider paused. */
const goesOn = (last: Message.Message | undefined): boolean =>
  last?.role === "tool" || (last?.role === "assistant" && last.metadata?.["paused"] === true)

type PromptPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number]

const partsOf = (content: Message.Message["content"]): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

const userPart = (
  part: ContentPart,
  providerName: string
): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> => {
  switch (part.type) {
    case "text":
      return isBlank(part.text) ? [] : [{ type: "text", text: part.text, ...handedBack(part.metadata) }]
    case "image":
    case "file":
      return isStored(part) ? [storedText(part)] : [mediaPart(part, providerName)]
    case "reasoning":
      return []
  }
}

type Media = Extract<ContentPart, { type: "image" | "file" }>

/** Whether the store of a chat has the bytes of the part. A chat sends them in its place. */
const isStored = (part: Media): boolean => "blob" in (part.type === "image" ? part.image : part.file)

const storedText = (part: Media): LanguageModelV4TextPart => ({
  type: "text",
  text: `${mediaText(part).slice(0, -1)}: only its chat can send it]`
})

const mediaPart = (part: Media, providerName: string): LanguageModelV4FilePart =>
  part.type === "image" ? imagePart(part, providerName) : filePart(part)

/** The parts of a reply in its order, as the provider's package expects them. */
const assistantParts = (
  message: Extract<Message.Message, { role: "assistant" }>,
  providerName: string,
  declared: Declared
): Array<PromptPart> => {
  const isCut = isCutOff(message)
  const parts = Message.parts(message).filter(
    (part) => isUnderstood(part, providerName) && !(isCut && part.type === "reasoning")
  )
  const calls = new Map(message.toolCalls?.map((call) => [call.id, call]))
  const isOnly = parts.filter(({ type }) => contentTypes.has(type)).length === 1
  const onlyText = isOnly ? handedBack(message.metadata) : {}
  return parts.flatMap((part): Array<PromptPart> => {
    switch (part.type) {
      case "reasoning":
        return [{ type: "reasoning", text: part.text, ...handedBack(part.metadata) }]
      case "text":
        return textPart(part, onlyText)
      case "tool_call":
        return callPart(calls.get(part.toolCallId), providerName, declared)
      case "provider_tool_call":
        return [providerCallPart(part)]
      case "provider_tool_result":
        return [providerResultPart(part)]
      case "custom":
        return customPart(part)
      case "image":
      case "file":
        return userPart(part, "")
      case "source":
        return []
    }
  })
}

/** Whether a reply broke or was cancelled. Its reasoning is not whole, and has no signature (PROMPT1). */
const isCutOff = ({ metadata }: Message.Message): boolean =>
  metadata?.["finish_reason"] === "error" || metadata?.["cancelled"] === true

/** Whether a part is for this provider: packages refuse the own parts of another one, for example after a fallback. */
const isUnderstood = (part: AssistantPart, providerName: string): boolean =>
  !("provider" in part) || part.provider === undefined || part.provider === providerName

/** The types of a reply's content: the options of the message are those of its only content. */
const contentTypes: ReadonlySet<string> = new Set<AssistantPart["type"]>(["text", "image", "file"])

type PartOf<Type extends string> = Extract<AssistantPart, { readonly type: Type }>

/** Providers refuse a blank text, unless it has metadata of its own. */
const textPart = ({ text, metadata }: PartOf<"text">, onlyText: ReturnType<typeof handedBack>): Array<PromptPart> => {
  const options = { ...onlyText, ...handedBack(metadata) }
  return isBlank(text) && options.providerOptions === undefined ? [] : [{ type: "text", text, ...options }]
}

const callPart = (call: ToolCall.ToolCall | undefined, providerName: string, declared: Declared): Array<PromptPart> => {
  if (call === undefined) return []
  const { id, name, metadata } = call
  const approval = approvalOf(call)
  if (approval !== undefined && approval.provider !== providerName) return []
  const input = freeTextOf(call, declared) ?? ToolCall.writtenArguments(call) ?? {}
  const byProvider = approval === undefined ? {} : { providerExecuted: true }
  return [{ type: "tool-call", toolCallId: id, toolName: name, input, ...byProvider, ...handedBack(metadata) }]
}

/** The id and the provider of the question that a call is (PART8). */
const approvalOf = (
  call: ToolCall.ToolCall | undefined
): { readonly id: string; readonly provider: string } | undefined =>
  call?.metadata?.["approval"] as { readonly id: string; readonly provider: string } | undefined

/** The decision about a call that the provider runs: only a completed call was allowed (PAPPROVAL2). */
const approvalResponse = (message: ToolMessage, approvalId: string): LanguageModelV4ToolApprovalResponsePart => {
  const approved = (message.outcome ?? "completed") === "completed"
  return { type: "tool-approval-response", approvalId, approved, ...(!approved && { reason: Message.text(message) }) }
}

const providerCallPart = (part: PartOf<"provider_tool_call">): PromptPart => ({
  type: "tool-call",
  toolCallId: part.id,
  toolName: part.name,
  input: part.arguments,
  providerExecuted: true,
  ...handedBack(part.metadata)
})

const providerResultPart = (part: PartOf<"provider_tool_result">): PromptPart => ({
  type: "tool-result",
  toolCallId: part.toolCallId,
  toolName: part.name,
  output: providerOutput(part),
  ...handedBack(part.metadata)
})

const providerOutput = ({ result, isError }: PartOf<"provider_tool_result">): LanguageModelV4ToolResultOutput => {
  const value = (result ?? null) as JSONValue
  if (isError === true) return { type: "error-json", value }
  return typeof value === "string" ? { type: "text", value } : { type: "json", value }
}

/** A part of a kind that only its provider reads, and a file of its reasoning. Parts of other kinds have no form here. */
const customPart = ({ kind, data, metadata }: PartOf<"custom">): Array<PromptPart> => {
  if (kind === "reasoning-file") {
    const { mediaType, url, base64 } = data as { mediaType: string; url?: string; base64?: string }
    const content = url === undefined ? ({ type: "data", data: base64 ?? "" } as const) : located(url, mediaType).data
    return [
      { type: kind, mediaType, data: content as LanguageModelV4ReasoningFilePart["data"], ...handedBack(metadata) }
    ]
  }
  return isProviderKind(kind) && data === undefined ? [{ type: "custom", kind, ...handedBack(metadata) }] : []
}

const isProviderKind = (kind: string): kind is `${string}.${string}` => kind.includes(".")

type ToolMessage = Extract<Message.Message, { role: "tool" }>

const toolResult = (
  message: ToolMessage,
  call: ToolCall.ToolCall | undefined,
  output: LanguageModelV4ToolResultOutput
): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: message.toolCallId,
  toolName: call?.name ?? message.name ?? "unknown",
  output,
  // A result belongs to the caller of its call, which the data of the call names.
  ...handedBack({ providerMetadata: call?.metadata?.["providerMetadata"], ...message.metadata })
})

/** The result of a tool. A call that did not complete is an error for the provider, if the message has the outcome. */
const toolOutput = (
  message: ToolMessage,
  toolName: string | undefined,
  declared: Declared,
  providerName: string,
  files: ToolFiles
): InForm => {
  const { content, outcome = "completed" } = message
  const text = Message.text(message)
  const inForm = outputInForm(message, outcome === "completed" ? text : plainError(text), toolName, declared)
  if (inForm !== undefined) return inForm
  const value = typeof content === "string" ? [] : resultItems(content, providerName, files)
  // An error output cannot contain files.
  if (value.some(({ type }) => type === "file")) return { output: { type: "content", value } }
  const said = typeof content === "string" ? content : textOf(value)
  switch (outcome) {
    case "completed":
      return { output: { type: "text", value: said } }
    case "denied":
      return { output: { type: "execution-denied", reason: said } }
    default:
      return { output: { type: "error-text", value: plainError(said) } }
  }
}

/** The reason in the text of a failure, without JSON: some packages write the text of an error as JSON once more. */
const plainError = (said: string): string => {
  const found = /^\{"error":"(?:[^"\\]|\\.)*"\}$/su.test(said)
    ? (JSON.parse(said) as { readonly error: string })
    : undefined
  return found === undefined || isBlank(found.error) ? said : `Error: ${found.error}`
}

/** The parts of a result: files that the model reads, and texts about the other files (TFILE1, TFILE2). */
const resultItems = (
  content: ReadonlyArray<ContentPart>,
  providerName: string,
  files: ToolFiles
): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> => {
  const items = content.flatMap((part): Array<LanguageModelV4TextPart | LanguageModelV4FilePart> => {
    if (part.type !== "image" && part.type !== "file") return userPart(part, providerName)
    if (!isRead(part, files)) return [{ type: "text", text: unreadText(part) }]
    const read = userPart(part, providerName)
    return files.textFirst === true ? [{ type: "text", text: mediaText(part) }, ...read] : read
  })
  if (files.textFirst !== true) return items
  return [{ type: "text", text: textOf(items) }, ...items.filter(({ type }) => type === "file")]
}

const mediaText = (part: ContentPart): string => Message.text({ role: "tool", toolCallId: "", content: [part] })

const unreadText = (part: ContentPart): string => `${mediaText(part).slice(0, -1)}: this model cannot read it]`

const textOf = (items: ReadonlyArray<LanguageModelV4TextPart | LanguageModelV4FilePart>): string =>
  items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n")

const imagePart = (part: Extract<ContentPart, { type: "image" }>, providerName: string): LanguageModelV4FilePart => {
  const given = handedBack(part.metadata).providerOptions
  const detail: JSONObject = part.detail === undefined || part.detail === "auto" ? {} : { imageDetail: part.detail }
  const own = providerName === "" ? {} : { [providerName]: { ...detail, ...given?.[providerName] } }
  const options = { ...given, ...(Object.keys(own[providerName] ?? {}).length === 0 ? {} : own) }
  return {
    type: "file",
    ...("url" in part.image
      ? located(part.image.url, "image/*")
      : { data: { type: "data", data: base64In(part.image) }, mediaType: part.image.mediaType }),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: options })
  }
}

const filePart = (part: Extract<ContentPart, { type: "file" }>): LanguageModelV4FilePart => ({
  type: "file",
  ...("url" in part.file
    ? { ...located(part.file.url, part.mediaType), mediaType: part.mediaType }
    : { data: { type: "data", data: base64In(part.file) }, mediaType: part.mediaType }),
  ...(part.filename === undefined ? {} : { filename: part.filename }),
  ...handedBack(part.metadata)
})

const base64In = (source: { readonly base64: string } | { readonly blob: string }): string =>
  "base64" in source ? source.base64 : ""

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
