/**
 * References to bytes in the place of base64 text, in the parts of messages.
 *
 * Owns: the bytes of references whose blobs no chat has taken yet, as long as the references are in use.
 *
 * BLOBREF1. An image or a file of at least 16,384 characters of base64 gets a reference to its bytes: their SHA-256, their number and
 *           their media type. A smaller one stays in the message. The same bytes have the same reference.
 * BLOBREF2. The events of a turn, its result, and the events of a sub-agent have references, too: the bytes of tools' results and of
 *           replies are nowhere but in the blobs.
 */
import { base64OfBytes, bytesOfBase64, sha256 } from "../json/index.ts"
import { type AssistantPart, type ContentPart, type FilePart, type ImagePart, type Message } from "./messageShapes.ts"
import { base64Of, blobOf, isMedia, mediaTypeOf } from "./mediaSource.ts"
import { mediaText } from "./resultParts.ts"

/** The shortest base64 text whose bytes are stored as a blob. */
const shortest = 16_384

/** The bytes of references that are new, and the parts that they are in place of. */
const newBytes = new WeakMap<
  ImagePart | FilePart,
  { readonly bytes: Uint8Array; readonly part: ImagePart | FilePart }
>()

/** The parts with references; the same list if no part has so much data (BLOBREF1). */
export const referring = <P extends ContentPart | AssistantPart>(parts: ReadonlyArray<P>): ReadonlyArray<P> =>
  parts.some((part) => isMedia(part) && isLarge(part))
    ? parts.map((part) => (isMedia(part) && isLarge(part) ? (referenceOf(part) as P) : part))
    : parts

const isLarge = (part: ImagePart | FilePart): boolean => (base64Of(part)?.length ?? 0) >= shortest

/** The parts that were replaced: a reply has its parts in several places. */
const references = new WeakMap<ImagePart | FilePart, ImagePart | FilePart>()

const referenceOf = (part: ImagePart | FilePart): ImagePart | FilePart => {
  const known = references.get(part)
  if (known !== undefined) return known
  const bytes = bytesOfBase64(base64Of(part) ?? "")
  const stored = { blob: sha256(bytes), bytes: bytes.byteLength }
  const reference: ImagePart | FilePart =
    part.type === "image"
      ? { ...part, image: { ...stored, mediaType: mediaTypeOf(part) ?? "image/*" } }
      : { ...part, file: stored }
  newBytes.set(reference, { bytes, part })
  references.set(part, reference)
  return reference
}

/** Whether no chat has taken the bytes of a reference. */
export const isNew = (part: ImagePart | FilePart): boolean => newBytes.has(part)

/** Takes the bytes of a reference, if they are new: the blob may not be stored. */
export const takeBytes = (part: ImagePart | FilePart): Uint8Array | undefined => {
  const bytes = newBytes.get(part)?.bytes
  newBytes.delete(part)
  return bytes
}

/** The message with the parts that its new references are in place of; the message itself if it has no such reference. */
export const asSent = <M extends Message>(message: M): M => {
  const sent = (part: ImagePart | FilePart) => newBytes.get(part)?.part
  return referencesOf(message).some(isNew) ? (withParts(message, (part) => sent(part) ?? part) as M) : message
}

/** The references in some parts. */
export const referencesIn = (parts: ReadonlyArray<ContentPart | AssistantPart>): ReadonlyArray<ImagePart | FilePart> =>
  parts.filter((part) => isMedia(part)).filter((part) => blobOf(part) !== undefined)

/** The references in a message. */
export const referencesOf = (message: Message): ReadonlyArray<ImagePart | FilePart> => {
  const content = typeof message.content === "string" ? [] : referencesIn(message.content)
  return message.role === "assistant" && message.parts !== undefined
    ? [...content, ...referencesIn(message.parts)]
    : content
}

/** The part with the base64 text of its bytes. */
export const inlined = (part: ImagePart | FilePart, bytes: Uint8Array): ImagePart | FilePart => {
  const base64 = base64OfBytes(bytes)
  return part.type === "image"
    ? { ...part, image: { base64, mediaType: mediaTypeOf(part) ?? "image/*" } }
    : { ...part, file: { base64 } }
}

/** The message with some of its references replaced; of those without a replacement a short text, or nothing in a reply. */
export const withParts = (
  message: Message,
  replacement: (part: ImagePart | FilePart) => ImagePart | FilePart | undefined
): Message => {
  if (referencesOf(message).length === 0) return message
  const one = (part: ContentPart): ContentPart =>
    isMedia(part) && blobOf(part) !== undefined ? (replacement(part) ?? missing(part)) : part
  const content = typeof message.content === "string" ? message.content : message.content.map(one)
  if (message.role === "system") return message
  if (message.role !== "assistant" || message.parts === undefined) return { ...message, content }
  const parts = message.parts.flatMap((part): ReadonlyArray<AssistantPart> => {
    if (!isMedia(part) || blobOf(part) === undefined) return [part]
    const found = replacement(part)
    return found === undefined ? [] : [found]
  })
  return { ...message, content, parts }
}

const missing = (part: ImagePart | FilePart): ContentPart => ({
  type: "text",
  text: `${mediaText(part).slice(0, -1)}: it is not stored any more]`
})
