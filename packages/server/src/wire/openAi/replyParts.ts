/**
 * The parts of a model's reply that OpenAI's protocols send beside its text: sources, images, and calls that the provider ran.
 *
 * **Details**: a source has no place in the text but its own among the parts. So its citation is empty: it starts and ends
 * where the text before it ends.
 */
import { type ContentPart, Message, type ToolCall } from "@troupe/chat/messages"

import { type ShownSource, urlOfSource } from "../../access/index.ts"

type Part = ReturnType<typeof Message.parts>[number]
type PartOf<Type extends Part["type"]> = Extract<Part, { readonly type: Type }>

/** A source that is a page. */
export interface UrlCitation {
  readonly type: "url_citation"
  readonly url: string
  readonly title: string
  readonly start_index: number
  readonly end_index: number
}

/** A source that is a document. */
interface FileCitation {
  readonly type: "file_citation"
  readonly file_id: string
  readonly filename: string
  readonly index: number
}

/** A source of a text. */
export type Citation = UrlCitation | FileCitation

/** The sources of a reply. Their places are those in a text that has `offset` more characters before the reply's. */
export const citationsOf = (parts: ReadonlyArray<Part>, offset: number): ReadonlyArray<Citation> => {
  let place = offset
  const citations: Array<Citation> = []
  for (const part of parts) {
    if (part.type === "text") place += part.text.length
    else if (part.type === "source") citations.push(citationOf(part, Math.max(place, 0)))
  }
  return citations
}

const citationOf = ({ id, source, title }: PartOf<"source">, place: number): Citation => {
  if ("url" in source) {
    const { url } = source
    return { type: "url_citation", url, title: title ?? url, start_index: place, end_index: place }
  }
  return { type: "file_citation", file_id: id, filename: source.filename ?? title ?? id, index: place }
}

/** An image that the model made. */
export interface ReplyImage {
  readonly mediaType: string
  readonly url: string
  /** Absent for an image that is a URL. */
  readonly base64?: string
}

const imageOf = (mediaType: string, content: ShownSource): ReplyImage => ({
  mediaType,
  url: urlOfSource(content, mediaType),
  ...("base64" in content && { base64: content.base64 })
})

/** The images of a reply. */
export const imagesOf = (parts: ReadonlyArray<Part>): ReadonlyArray<ReplyImage> =>
  parts.flatMap((part) => {
    if (part.type === "image") {
      return [imageOf("mediaType" in part.image ? part.image.mediaType : "image/*", part.image)]
    }
    return part.type === "file" && part.mediaType.startsWith("image/") ? [imageOf(part.mediaType, part.file)] : []
  })

/** A call that the provider ran. */
export interface ProviderCall {
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** The text of the result; absent when the reply has none. */
  readonly result?: string
  readonly isError: boolean
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null))

/** The calls that the provider ran in a reply, and the results of those that an earlier reply has. */
export const providerCallsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<ProviderCall> => {
  const results = new Map(
    parts.flatMap((part) => (part.type === "provider_tool_result" ? [[part.toolCallId, part] as const] : []))
  )
  const calls = new Set(parts.flatMap((part) => (part.type === "provider_tool_call" ? [part.id] : [])))
  return parts.flatMap((part): ReadonlyArray<ProviderCall> => {
    if (part.type === "provider_tool_call") {
      const found = results.get(part.id)
      const args = textOf(part.arguments ?? {})
      if (found === undefined) return [{ name: part.name, arguments: args, isError: false }]
      return [{ name: part.name, arguments: args, result: textOf(found.result), isError: found.isError === true }]
    }
    return part.type === "provider_tool_result" && !calls.has(part.toolCallId)
      ? [{ name: part.name, arguments: "{}", result: textOf(part.result), isError: part.isError === true }]
      : []
  })
}

/** The message of a reply that a client repeats. */
export const answerOf = (
  text: string,
  calls: ReadonlyArray<ToolCall.ToolCall>,
  images: ReadonlyArray<ContentPart>,
  reasoning = ""
): Message.Message => {
  const message = Message.assistant(text, calls)
  if (images.length === 0 && reasoning === "") return message
  const thought = reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]
  const [said, called] = [Message.parts(Message.assistant(text)), calls.map(({ id }) => callPart(id))]
  return { ...message, parts: [...thought, ...said, ...images, ...called] }
}

const callPart = (toolCallId: string): Part => ({ type: "tool_call", toolCallId })
