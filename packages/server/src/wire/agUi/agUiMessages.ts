/**
 * Converts the messages of a thread to messages of AG-UI.
 *
 * AGUI2. A message has the same id live and in a snapshot of the messages: the reply's id, and the step's number in it. The
 *        result that a client gave to a call has the id that this client gave it.
 */
import { type ShownSource, urlOfSource } from "../../access/index.ts"
import { type ContentPart, type Message, Message as Messages } from "@troupe/chat/messages"
import {
  isQuestion,
  isSaid,
  isStep,
  messageName,
  replyName,
  replyNameOf,
  senderOf,
  stepsOf,
  storedData
} from "../index.ts"

/** Ids that belong to a call contain the id of its step: models reuse ids of calls. */
export const questionId = (step: string, toolCallId: string): string => `${step}.${toolCallId}.question`
export const resultId = (step: string, toolCallId: string): string => `${step}.${toolCallId}`

/** The id of a step's block of reasoning. */
export const reasoningId = (step: string, index: number): string =>
  `${step}.reasoning${index === 0 ? "" : `.${index + 1}`}`

/** The id of a step's message. */
export const stepId = (reply: string, step: number): string => `${reply}.${step + 1}`

/** The number of steps in some messages of a reply. */
export const stepCount = (messages: ReadonlyArray<Message.Message>): number => stepsOf(messages).length

/** A part of the content of a message. */
type Part =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "video" | "document"
      readonly source:
        | { readonly type: "url"; readonly value: string; readonly mimeType?: string }
        | { readonly type: "data"; readonly value: string; readonly mimeType: string }
      readonly metadata?: { readonly filename: string }
    }

/** The source of an image or a file: the protocol has no `data:` URLs. */
const sourceOf = (given: ShownSource, mimeType: string | undefined): Extract<Part, { source: unknown }>["source"] => {
  if ("base64" in given) return { type: "data", value: given.base64, mimeType: mimeType ?? "application/octet-stream" }
  const url = urlOfSource(given, "")
  const inline = /^data:(?<type>[^;,]+);base64,(?<base64>.*)$/su.exec(url)?.groups
  if (inline !== undefined) return { type: "data", value: inline["base64"] ?? "", mimeType: inline["type"] ?? "" }
  return { type: "url", value: url, ...(mimeType === undefined ? {} : { mimeType }) }
}

const kinds = ["image", "audio", "video"] as const

const partOf = (part: ContentPart): ReadonlyArray<Part> => {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }]
    case "image": {
      const { image } = part
      return [{ type: "image", source: sourceOf(image, "mediaType" in image ? image.mediaType : undefined) }]
    }
    case "file": {
      const { file, mediaType, filename } = part
      const type = kinds.find((kind) => mediaType.startsWith(`${kind}/`)) ?? "document"
      const named = filename === undefined ? {} : { metadata: { filename } }
      return [{ type, source: sourceOf(file, mediaType), ...named }]
    }
    case "reasoning":
      return []
  }
}

/** The content of a message: text, or parts if it has an image or a file. */
const agUiContent = (content: string | ReadonlyArray<ContentPart>): string | ReadonlyArray<Part> => {
  if (typeof content === "string") return content
  const parts = content.flatMap(partOf)
  return parts.every(({ type }) => type === "text")
    ? parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    : parts
}

/**
 * The content of a tool's result. Before version 1.0 it is text only.
 */
export const resultContent = (
  content: string | ReadonlyArray<ContentPart>,
  text: string,
  isCurrent: boolean
): string | ReadonlyArray<Part> => (isCurrent ? agUiContent(content) : text)

/** A file or a source of the model's reply: an activity, because the protocol has no form for it in a reply. */
export interface AgUiActivity {
  readonly id: string
  readonly activityType: string
  readonly content: Readonly<Record<string, unknown>>
}

/** The files and the sources of a reply. */
export const activitiesOf = (
  message: Extract<Message.Message, { role: "assistant" }>,
  step: string
): ReadonlyArray<AgUiActivity> => {
  let count = 0
  return Messages.parts(message).flatMap((part): ReadonlyArray<AgUiActivity> => {
    if (part.type === "image" || part.type === "file") {
      const content = { ...partOf(part)[0] }
      return [{ id: `${step}.part.${++count}`, activityType: "troupe.file", content }]
    }
    if (part.type !== "source") return []
    const { source, title } = part
    const content = { ...source, ...(title === undefined ? {} : { title }) }
    return [{ id: `${step}.part.${++count}`, activityType: "troupe.source", content }]
  })
}

/** The ids of a client's messages with results, by the id of their call, in the order of the messages. */
export type ResultIds = ReadonlyMap<string, ReadonlyArray<string>>

/** Converts the messages of a thread. */
export const agUiMessages = (
  messages: ReadonlyArray<Message.Message>,
  isCurrent: boolean,
  resultIds: ResultIds = new Map()
): ReadonlyArray<object> => {
  const all: Array<object> = []
  const counts = new Map<string, number>()
  let reply = replyName("m")
  let step = 0
  /** The newest data of a name stands at the place of the first. */
  const addData = (message: Message.Message): void => {
    for (const { type: activityType, id: part, data } of storedData(message)) {
      const activity = { id: `${reply}.${activityType}.${part}`, role: "activity", activityType, content: { data } }
      const at = all.findIndex((one) => "id" in one && one.id === activity.id)
      if (at === -1) all.push(activity)
      else all[at] = activity
    }
  }
  for (const [index, message] of messages.entries()) {
    if (isSaid(message)) {
      const id = messageName(message, index)
      reply = replyNameOf(message, index)
      step = 0
      const sender = senderOf(message)
      all.push({ id, role: "user", ...(sender && { name: sender.chat }), content: agUiContent(message.content) })
    } else if (message.role === "tool") {
      const { toolCallId } = message
      const content = resultContent(message.content, Messages.text(message), isCurrent)
      const count = counts.get(toolCallId) ?? 0
      counts.set(toolCallId, count + 1)
      const id = resultIds.get(toolCallId)?.[count] ?? resultId(stepId(reply, step - 1), toolCallId)
      all.push({ id, role: "tool", toolCallId, content })
      addData(message)
    } else if (isQuestion(message)) {
      const id = questionId(stepId(reply, step - 1), String(message.metadata?.["tool_call_id"]))
      all.push({ id, role: "assistant", content: Messages.text(message) })
    } else if (isStep(message)) {
      all.push(...stepMessages(message, stepId(reply, step)))
      addData(message)
      step += 1
    }
  }
  return all
}

/** The messages of a step: its reasoning, the reply at the place of its first text or call, and its files. */
const stepMessages = (message: Extract<Message.Message, { role: "assistant" }>, id: string): ReadonlyArray<object> => {
  const content = Messages.text(message)
  const files = activitiesOf(message, id).map((activity) => ({ ...activity, role: "activity" }))
  const hasReply = content !== "" || (message.toolCalls ?? []).length > 0 || files.length === 0
  const reply = hasReply ? [{ id, role: "assistant", ...withCalls(message, content) }] : []
  const parts = Messages.parts(message).filter(
    ({ type }) => type === "text" || type === "tool_call" || type === "reasoning"
  )
  const found = parts.findIndex(({ type }) => type !== "reasoning")
  const at = found === -1 ? parts.length : found
  const thoughts = parts.map((part) => (part.type === "reasoning" ? part.text : ""))
  let count = 0
  const messagesOf = (texts: ReadonlyArray<string>): ReadonlyArray<object> =>
    texts.flatMap((text) => (text === "" ? [] : [{ id: reasoningId(id, count++), role: "reasoning", content: text }]))
  return [...messagesOf(thoughts.slice(0, at)), ...reply, ...messagesOf(thoughts.slice(at)), ...files]
}

const withCalls = ({ toolCalls = [] }: Extract<Message.Message, { role: "assistant" }>, content: string) => ({
  ...(content === "" && toolCalls.length > 0 ? {} : { content }),
  ...(toolCalls.length === 0
    ? {}
    : {
        toolCalls: toolCalls.map(({ id, name, arguments: given, rawArguments }) => ({
          id,
          type: "function",
          function: { name, arguments: rawArguments ?? JSON.stringify(given ?? {}) }
        }))
      })
})
