/** The images of replies with their bytes: a stored response has them as base64 text. */
import type { LocalChatRef } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Call } from "../../http/index.ts"

type Part = NonNullable<Extract<Message.Message, { role: "assistant" }>["parts"]>[number]

/** The messages, with the bytes of the images that the model generated. Images of the user keep their URL. */
export const withReplyImages = async (
  call: Call,
  chat: LocalChatRef,
  messages: ReadonlyArray<Message.Message>
): Promise<ReadonlyArray<Message.Message>> => {
  const found: Array<Message.Message> = []
  for (const message of messages) {
    if (message.role !== "assistant" || message.parts?.some(isStoredImage) !== true) found.push(message)
    else {
      const parts: Array<Part> = []
      for (const part of message.parts) parts.push(await withData(call, chat, part))
      found.push({ ...message, parts })
    }
  }
  return found
}

type Completed = Extract<Event, { readonly type: "message_completed" }>

/** Whether the event is a reply with an image that the store has. */
export const hasStoredImage = (event: Event): event is Completed =>
  event.type === "message_completed" && event.message.parts?.some(isStoredImage) === true

/** The event with the bytes of its images. */
export const withReplyImage = async (call: Call, chat: LocalChatRef, event: Completed): Promise<Event> => {
  const [message] = await withReplyImages(call, chat, [event.message])
  return message?.role === "assistant" ? { ...event, message } : event
}

const isStoredImage = (part: Part): boolean =>
  (part.type === "image" && "blob" in part.image) ||
  (part.type === "file" && "blob" in part.file && part.mediaType.startsWith("image/"))

const withData = async ({ troupe }: Call, { id }: LocalChatRef, part: Part): Promise<Part> => {
  if (part.type === "image" && "blob" in part.image) {
    const { blob, mediaType } = part.image
    const bytes = await troupe.blob(id, blob)
    return bytes === undefined ? part : { ...part, image: { base64: base64Of(bytes), mediaType } }
  }
  if (part.type !== "file" || !("blob" in part.file) || !isStoredImage(part)) return part
  const bytes = await troupe.blob(id, part.file.blob)
  return bytes === undefined ? part : { ...part, file: { base64: base64Of(bytes) } }
}

const together = 8_192

const base64Of = (bytes: Uint8Array): string => {
  let binary = ""
  for (let at = 0; at < bytes.length; at += together)
    binary += String.fromCharCode(...bytes.subarray(at, at + together))
  return btoa(binary)
}
