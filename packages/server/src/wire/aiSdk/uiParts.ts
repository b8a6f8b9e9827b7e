/** Converts messages to the messages and parts of the AI SDK's user interfaces. */
import { type ContentPart, Message, type ToolCall } from "@troupe/chat/messages"
import type { Outcome } from "@troupe/chat/results"
import type { PendingApproval } from "@troupe/chat/tools"
import {
  isAnswered,
  isBelow,
  isQuestion,
  isSaid,
  messageName,
  replyName,
  replyNameOf,
  senderOf,
  sentMetadata,
  type StepMessages,
  stepsOf,
  valueOf
} from "../index.ts"
import { urlOfSource } from "../../access/index.ts"
import { type UiDataPart, withData } from "./uiData.ts"
import type { UiMetadata } from "./uiMetadata.ts"

/** The state of a tool call. */
type ToolState =
  | { readonly state: "input-available" }
  | { readonly state: "approval-requested"; readonly approval: { readonly id: string; readonly requestReason: string } }
  | { readonly state: "output-available"; readonly output: unknown }
  | { readonly state: "output-error"; readonly errorText: string }
  | {
      readonly state: "output-denied"
      readonly approval: { readonly id: string; readonly approved: false; readonly reason: string }
    }

/** A tool call. */
export type ToolPart = {
  readonly type: `tool-${string}`
  readonly toolCallId: string
  readonly input: unknown
  /** The server runs the tool: clients neither answer the call nor wait for an answer. */
  readonly providerExecuted?: true
} & ToolState

/** One part of a message. */
export type UiPart =
  | { readonly type: "step-start" }
  | { readonly type: "text"; readonly text: string; readonly state: "done" }
  | { readonly type: "reasoning"; readonly text: string; readonly state: "done" }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string; readonly filename?: string }
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
  | {
      readonly type: "source-document"
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
      readonly filename?: string
    }
  | ToolPart

export interface UiMessage {
  readonly id: string
  readonly role: "user" | "assistant"
  /** The sender's own, or that of a reply. */
  readonly metadata?: unknown
  readonly parts: ReadonlyArray<UiPart | UiDataPart>
}

/**
 * Data of calls that the thread does not have: the tools whose calls the client answers, and the calls that wait for a
 * decision.
 */
export interface UiCalls {
  readonly manual: ReadonlySet<string>
  readonly approvals: ReadonlyArray<PendingApproval>
}

/**
 * Converts the messages of a thread. `partial` is the text of an interrupted reply, and `metadataOf` and `dataOf`
 * return the metadata and the data of a reply by its name.
 */
export const uiMessages = (
  messages: ReadonlyArray<Message.Message>,
  calls: UiCalls,
  partial = "",
  metadataOf: (name: string, reply: ReadonlyArray<Message.Message>) => UiMetadata | undefined = () => undefined,
  dataOf: (name: string, reply: ReadonlyArray<Message.Message>) => ReadonlyArray<UiDataPart> = () => []
): ReadonlyArray<UiMessage> => {
  const all: Array<UiMessage> = []
  let name = replyName("m")
  let reply: Array<Message.Message> = []
  const replied = (last: string) => {
    const begun: ReadonlyArray<UiPart> = last === "" ? [] : [{ type: "step-start" }, ...textParts(last)]
    const parts = [...stepsOf(reply).flatMap((step) => stepParts(step, calls)), ...begun, ...dataOf(name, reply)]
    if (parts.length > 0) all.push({ id: name, role: "assistant", ...withField(metadataOf(name, reply)), parts })
    reply = []
  }
  for (const [index, message] of messages.entries()) {
    if (!isSaid(message)) reply.push(message)
    else {
      replied("")
      const id = messageName(message, index)
      all.push({
        id,
        role: "user",
        ...withField(sentMetadata(message) ?? ofAgent(message)),
        parts: withData(message, userParts(message.content))
      })
      name = replyNameOf(message, index)
    }
  }
  replied(partial)
  return all
}

/** The metadata of a message of an agent (AGENTMSG1). */
const ofAgent = (message: Message.Message): unknown => {
  const sender = senderOf(message)
  return sender && { from: sender }
}

const withField = (metadata: unknown): Pick<UiMessage, "metadata"> => (metadata === undefined ? {} : { metadata })

export const stepParts = ({ said, behind }: StepMessages, calls: UiCalls): ReadonlyArray<UiPart> => {
  const parts = Message.parts(said)
  const own = new Map(said.toolCalls?.map((call) => [call.id, call]))
  return [
    { type: "step-start" },
    ...parts.flatMap((part): ReadonlyArray<UiPart> => {
      switch (part.type) {
        case "reasoning":
          return part.text === "" ? [] : [{ type: "reasoning", text: part.text, state: "done" }]
        case "tool_call":
          return callPart(own.get(part.toolCallId), behind, calls)
        case "provider_tool_call":
          return [providerPart(part, parts)]
        case "source":
          return [sourcePart(part)]
        case "provider_tool_result":
        case "custom":
          return []
        default:
          return userPart(part)
      }
    }),
    ...behind.filter(isQuestion).flatMap((message) => textParts(Message.text(message)))
  ]
}

type AssistantPart = ReturnType<typeof Message.parts>[number]
type PartOf<Type extends string> = Extract<AssistantPart, { readonly type: Type }>

const callPart = (
  call: ToolCall.ToolCall | undefined,
  behind: StepMessages["behind"],
  { manual, approvals }: UiCalls
): ReadonlyArray<ToolPart> => {
  if (call === undefined) return []
  const { id, name, arguments: input, rawArguments } = call
  const result = behind.find((message) => message.role === "tool" && message.toolCallId === id)
  const waiting = approvals.find(({ toolCall }) => toolCall.id === id)
  // A result that a client gave has no outcome.
  const isManual = manual.has(name) || (result?.role === "tool" && result.outcome === undefined)
  const part = {
    type: `tool-${name}` as const,
    toolCallId: id,
    input: input ?? rawArguments ?? null,
    ...(isManual ? {} : { providerExecuted: true as const })
  }
  return [
    { ...part, ...(result?.role === "tool" ? answered(result) : waiting === undefined ? pending : asked(waiting)) },
    ...approvals.filter(({ toolCall }) => isBelow(toolCall.id, id)).map(belowPart)
  ]
}

/** What a sub-agent waits for, as a call of its own. The client answers a question, and a call that waits for its result. */
export const belowPart = (waits: PendingApproval): ToolPart => {
  const { id: toolCallId, name, arguments: args, rawArguments } = waits.toolCall
  const type = `tool-${name}` as const
  const { kind, reason, options } = waits
  const question = { question: reason, ...(options === undefined ? {} : { options }) }
  const input = kind === "question" ? question : (args ?? rawArguments ?? null)
  const part = { type, toolCallId, input }
  return isAnswered(waits) ? { ...part, ...pending } : { ...part, providerExecuted: true, ...asked(waits) }
}

/** A call that the provider ran, with its result in the same reply. */
const providerPart = (
  { id, name, arguments: input }: PartOf<"provider_tool_call">,
  parts: ReadonlyArray<AssistantPart>
): ToolPart => {
  const found = parts.find((part) => part.type === "provider_tool_result" && part.toolCallId === id)
  const part = { type: `tool-${name}` as const, toolCallId: id, input: input ?? null, providerExecuted: true as const }
  if (found?.type !== "provider_tool_result") return { ...part, ...pending }
  const { result, isError } = found
  if (isError !== true) return { ...part, state: "output-available", output: result ?? null }
  return { ...part, state: "output-error", errorText: typeof result === "string" ? result : JSON.stringify(result) }
}

const sourcePart = ({ id: sourceId, source, title }: PartOf<"source">): UiPart => {
  if ("url" in source) {
    return { type: "source-url", sourceId, url: source.url, ...(title === undefined ? {} : { title }) }
  }
  const { mediaType, filename } = source
  const named = filename === undefined ? {} : { filename }
  return { type: "source-document", sourceId, mediaType, title: title ?? filename ?? "", ...named }
}

const pending: ToolState = { state: "input-available" }

const asked = ({ toolCall, reason }: PendingApproval): ToolState => ({
  state: "approval-requested",
  approval: { id: toolCall.id, requestReason: reason }
})

const answered = (message: ToolMessage): ToolState =>
  answerState(message.toolCallId, answerOf(message), message.outcome)

type ToolMessage = Extract<Message.Message, { role: "tool" }>

/** The text of a result, and its parts if it has parts. */
export interface UiAnswer {
  readonly content: string
  readonly parts?: ReadonlyArray<ContentPart> | undefined
}

/** The answer in a tool message. */
export const answerOf = (message: ToolMessage): UiAnswer => ({
  content: Message.text(message),
  ...(typeof message.content === "string" ? {} : { parts: message.content })
})

/** The state of a call with a result. The output of a result with parts is the list of its parts. */
export const answerState = (id: string, { content, parts }: UiAnswer, outcome: Outcome | undefined): ToolState => {
  if (outcome === undefined || outcome === "completed") {
    return { state: "output-available", output: parts === undefined ? valueOf(content) : parts.map(withoutMetadata) }
  }
  if (outcome !== "denied") return { state: "output-error", errorText: content }
  return { state: "output-denied", approval: { id, approved: false, reason: content } }
}

/** The metadata of content is the server's own. */
const withoutMetadata = (part: ContentPart): Omit<ContentPart, "metadata"> => {
  const { metadata: _, ...shown } = part
  return shown
}

const textParts = (text: string): ReadonlyArray<UiPart> => (text === "" ? [] : [{ type: "text", text, state: "done" }])

const userParts = (content: Extract<Message.Message, { role: "user" }>["content"]): ReadonlyArray<UiPart> =>
  typeof content === "string" ? textParts(content) : content.flatMap(userPart)

const userPart = (part: ContentPart): ReadonlyArray<UiPart> => {
  switch (part.type) {
    case "text":
      return textParts(part.text)
    case "image": {
      const { image } = part
      const mediaType = "mediaType" in image ? image.mediaType : mediaTypeOf(image.url, "image/*")
      return [{ type: "file", mediaType, url: urlOfSource(image, mediaType) }]
    }
    case "file": {
      const { file, mediaType, filename } = part
      const url = urlOfSource(file, mediaType)
      return [{ type: "file", mediaType, url, ...(filename === undefined ? {} : { filename }) }]
    }
    case "reasoning":
      return []
  }
}

const mediaTypeOf = (url: string, otherwise: string): string =>
  /^data:(?<type>[^;,]+)/u.exec(url)?.groups?.["type"] ?? otherwise
