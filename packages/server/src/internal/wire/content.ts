/** What people say, as it comes over the wire: text and files. */
import type { ContentPart } from "@troupe/chat"
import { HttpError } from "../../HttpError.ts"

/** A file by its address, or as a `data:` address. Throws an `HttpError` (422) for an address of another kind. */
export const filePart = (url: string, mediaType: string, filename?: string): ContentPart.ContentPart => {
  const base64 = /^data:(?<type>[^;,]+);base64,(?<base64>[A-Za-z0-9+/]*={0,2})$/u.exec(url)?.groups
  if (base64 === undefined && !/^https?:\/\//u.test(url)) {
    throw new HttpError("invalid_input", "A file is given by an http: or https: address, or as data: with base64")
  }
  const type = base64?.["type"] ?? mediaType
  const bytes = base64?.["base64"]
  if (type.startsWith("image/")) {
    return { type: "image", image: bytes === undefined ? { url } : { base64: bytes, mediaType: type } }
  }
  return {
    type: "file",
    mediaType: type,
    file: bytes === undefined ? { url } : { base64: bytes },
    ...(filename === undefined ? {} : { filename })
  }
}

/** Content as short as it can be said. Throws an `HttpError` (413, 422) for too much, and for nothing. */
export const checkedContent = (
  parts: ReadonlyArray<ContentPart.ContentPart>,
  mostCharacters: number
): string | ReadonlyArray<ContentPart.ContentPart> => {
  let characters = 0
  for (const part of parts) if (part.type === "text") characters += part.text.length
  if (characters > mostCharacters) {
    throw new HttpError("message_too_long", `A message has at most ${mostCharacters} characters; say it in several`)
  }
  const [first] = parts
  if (first === undefined)
    throw new HttpError("invalid_input", "The message says nothing; give it a part with text, or a file")
  return parts.length === 1 && first.type === "text" ? first.text : parts
}
