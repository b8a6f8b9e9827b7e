/** Images that are large enough to be stored beside their messages, and replies with them. */
import type { AdapterEvent } from "../../src/events/index.ts"
import { sha256 } from "../../src/json/sha256.ts"
import type { AssistantMessage } from "../../src/model/index.ts"

/** An image of so many bytes, none of which repeat in a simple way. */
export const imageOf = (size: number, seed = 1) => {
  const bytes = Uint8Array.from({ length: size }, (_, at) => (at * seed + (at >> 8)) % 251)
  const base64 = Buffer.from(bytes).toString("base64")
  return {
    bytes,
    part: { type: "image", image: { base64, mediaType: "image/png" } } as const,
    reference: { type: "image", image: { blob: sha256(bytes), bytes: size, mediaType: "image/png" } } as const
  }
}

/** A reply with a text and an image. */
export const drawing = (part: ReturnType<typeof imageOf>["part"]): AssistantMessage => ({
  role: "assistant",
  content: "Here.",
  parts: [{ type: "text", text: "Here." }, part]
})

/** The stream of a whole reply. */
export async function* completed(message: AssistantMessage): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  yield { type: "text_delta", id: null, delta: message.content as string }
  yield { type: "message_completed", message, finishReason: "stop" }
}
