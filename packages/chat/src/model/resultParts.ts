/**
 * The parts of a tool result: texts, images, files and JSON, in order.
 *
 * TPART1. A non-empty list is the parts of a result if each element is a part, with no other field. Any other value is JSON,
 *         so that no field of a tool's own data is left out.
 * TPART2. The content of the tool message has every part: a text and JSON as the encoder writes them, an image and a file as
 *         they are.
 * TPART3. The text of a result has a line for each part: a text itself, and a short description of an image or a file.
 */
import { isRecord } from "../errors/index.ts"
import { copied, jsonSize } from "../json/index.ts"
import type { ResultLimits, ResultSize } from "../values/index.ts"
import { bytesOf, fileBytesOf, isMedia, mediaTypeOf, withoutData } from "./mediaSource.ts"
import { ContentPart, type FilePart, type ImagePart } from "./messageShapes.ts"

/** One element of a tool result: a text, an image, a file, or a JSON value. */
export type ResultPart =
  | Exclude<ContentPart, { readonly type: "reasoning" }>
  | { readonly type: "json"; readonly value: unknown }

/** The fields of each kind of part (TPART1). */
const fields: Readonly<Record<ResultPart["type"], ReadonlySet<string>>> = {
  text: new Set(["type", "text", "metadata"]),
  image: new Set(["type", "image", "detail", "metadata"]),
  file: new Set(["type", "file", "mediaType", "filename", "metadata"]),
  json: new Set(["type", "value"])
}

/** The parts that a value is, or `undefined` if it is JSON (TPART1). */
export const resultParts = (value: unknown): ReadonlyArray<ResultPart> | undefined =>
  Array.isArray(value) && value.length > 0 && !Array.from<unknown>(value).some((part) => !isPart(part))
    ? value
    : undefined

const isPart = (value: unknown): value is ResultPart => {
  if (!isRecord(value)) return false
  const { type } = value
  if (typeof type !== "string" || !isKind(type)) return false
  if (!Object.keys(value).every((field) => fields[type].has(field))) return false
  if (type === "json") return "value" in value
  return ContentPart.safeParse(value).success
}

const isKind = (type: string): type is ResultPart["type"] => Object.hasOwn(fields, type)

/** The content of a tool message: a copy of the parts, with texts and JSON as `encode` writes them (TPART2). */
export const encodedParts = (
  parts: ReadonlyArray<ResultPart>,
  encode: (value: unknown) => string
): ReadonlyArray<ContentPart> =>
  parts.map((part): ContentPart => {
    if (part.type === "json") return { type: "text", text: encode(part.value) }
    return part.type === "text" ? { ...copied(part), text: encode(part.text) } : copied(part)
  })

/** The size of content: its text, and the bytes of its images and files. */
export const resultSize = (
  content: string | ReadonlyArray<ContentPart>,
  { maxToolResultCharacters: most }: Pick<ResultLimits, "maxToolResultCharacters">
): ResultSize => ({
  characters:
    typeof content === "string"
      ? content.length
      : content.reduce((sum, part) => sum + (sum > most ? 0 : charactersOf(part, most)), 0),
  fileBytes: fileBytesOf(content)
})

const charactersOf = (part: ContentPart, most: number): number => {
  if (isMedia(part)) return jsonSize(withoutData(part), most)
  return part.text.length + (part.metadata === undefined ? 0 : jsonSize(part.metadata, most))
}

/** The text of a result (TPART3). */
export const resultText = (parts: ReadonlyArray<ContentPart>): string => parts.flatMap(lineOf).join("\n")

const lineOf = (part: ContentPart): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [part.text]
    case "image":
    case "file":
      return [mediaText(part)]
    case "reasoning":
      return []
  }
}

/** A short text about an image or a file: its media type, its name, and its size or URL. */
export const mediaText = (part: ImagePart | FilePart): string => {
  const filename = part.type === "file" ? part.filename : undefined
  const facts = [mediaTypeOf(part), filename, placeOf(part)]
  return `[${part.type} ${facts.filter((fact) => fact !== undefined && fact !== "").join(", ")}]`
}

const placeOf = (part: ImagePart | FilePart): string => {
  const { url = "data:" } = (part.type === "image" ? part.image : part.file) as { readonly url?: string }
  return /^data:/i.test(url) ? sizeText(bytesOf(part)) : url
}

const sizeText = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
