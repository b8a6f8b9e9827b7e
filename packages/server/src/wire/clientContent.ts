/**
 * The messages and answers of clients, as they arrive over the wire.
 *
 * CONTENT1. Content of a client has no `metadata`: that belongs to the program, and holds options for providers.
 * CONTENT2. Every message is counted whole, whatever its role: its texts, and the URLs of its images and files. The data
 *           of an image or a file counts for `maxFileBytes` of the Troupe instead, and for the bytes of the body.
 */
import { ContentPart } from "@troupe/chat/messages"
import * as z from "zod"
import { HttpError } from "../errors/index.ts"

type Content = string | ReadonlyArray<ContentPart>

/** A part as a client may send it (CONTENT1). */
export const WirePart = ContentPart.refine(({ metadata }) => metadata === undefined, {
  path: ["metadata"],
  message: "is the server's own; leave it out"
})

/**
 * A file by its URL, as base64 text from a `data:` URL, or by the path of a blob of the conversation, which the server gave the
 * client. It is an image if the URL or the client says so. The URL and the blob are validated with the message.
 */
export const filePart = (url: string, mediaType: string, filename?: string): ContentPart => {
  const stored = blobPath.exec(url)?.groups
  if (stored !== undefined) return storedPart(stored, mediaType, filename)
  const inline = /^data:(?<type>[^;,]+);base64,(?<base64>.*)$/su.exec(url)?.groups
  const type = inline?.["type"] ?? mediaType
  const base64 = inline?.["base64"]
  if (type.startsWith("image/") || mediaType.startsWith("image/")) {
    return { type: "image", image: base64 === undefined ? { url } : { base64, mediaType: type } }
  }
  return {
    type: "file",
    mediaType: type,
    file: base64 === undefined ? { url } : { base64 },
    ...(filename === undefined ? {} : { filename })
  }
}

/** The path of a blob, as BLOBURL1 has it. */
const blobPath = /^\/[^?#]*\/blobs\/(?<blob>[0-9a-f]{64})\?type=[^&]*&bytes=(?<bytes>\d{1,15})$/u

const storedPart = (
  { blob = "", bytes }: Readonly<Record<string, string | undefined>>,
  mediaType: string,
  filename: string | undefined
): ContentPart => {
  const stored = { blob, bytes: Number(bytes) }
  return mediaType.startsWith("image/")
    ? { type: "image", image: { ...stored, mediaType } }
    : { type: "file", mediaType, file: stored, ...(filename !== undefined && { filename }) }
}

/** The shortest form of some content. Throws an `HttpError` (413, 422) for content that is too long or empty. */
export const checkedContent = (parts: ReadonlyArray<ContentPart>, mostCharacters: number): Content => {
  const [first] = parts
  if (first === undefined)
    throw new HttpError("invalid_input", "The message says nothing; give it a part with text, or a file")
  return checkedLength(parts.length === 1 && first.type === "text" ? first.text : parts, mostCharacters)
}

/** Returns content that is not too long (CONTENT2). Throws an `HttpError` (413). */
export const checkedLength = <A extends Content>(content: A, mostCharacters: number): A => {
  if (charactersOf(content) > mostCharacters) throw tooLong(mostCharacters)
  return content
}

const charactersOf = (content: Content): number =>
  typeof content === "string" ? content.length : content.reduce((sum, part) => sum + partCharacters(part), 0)

const partCharacters = (part: ContentPart | JsonPart): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.length
    case "image":
      return urlCharacters(part.image)
    case "file":
      return urlCharacters(part.file)
    case "json":
      return (JSON.stringify(part) ?? "").length
  }
}

/** The characters of a URL that has no data in itself. */
const urlCharacters = (source: object): number =>
  "url" in source && typeof source.url === "string" && !/^data:/iu.test(source.url) ? source.url.length : 0

const JsonPart = z.looseObject({ type: z.literal("json") })
type JsonPart = z.infer<typeof JsonPart>
const Parts = z.array(z.union([ContentPart, JsonPart])).min(1)
const WireParts = z.array(z.union([WirePart, JsonPart]))

/** Returns an answer that is not too long and has no content with `metadata`. Throws an `HttpError` (413, 422). */
export const checkedAnswer = <A>(answer: A, mostCharacters: number): A => {
  const parts = Parts.safeParse(answer)
  const characters = parts.success
    ? parts.data.reduce((sum, part) => sum + partCharacters(part), 0)
    : textOf(answer).length
  if (characters > mostCharacters) throw tooLong(mostCharacters)
  if (parts.success && !WireParts.safeParse(answer).success) {
    throw new HttpError(
      "invalid_input",
      "The parts of a result have no `metadata`: it is the server's own; leave it out"
    )
  }
  return answer
}

const textOf = (answer: unknown): string => (typeof answer === "string" ? answer : (JSON.stringify(answer) ?? ""))

const tooLong = (mostCharacters: number): HttpError =>
  new HttpError("message_too_long", `A message has at most ${mostCharacters} characters; say it in several`)

/** The result of a client's call: a value, or the text of its failure. */
export type CallResult = { readonly value: unknown } | { readonly error: string }

/** Returns a result that is not too long. Throws an `HttpError` (413, 422). */
export const checkedResult = (result: CallResult, mostCharacters: number): CallResult => {
  checkedAnswer("error" in result ? result.error : result.value, mostCharacters)
  return result
}
