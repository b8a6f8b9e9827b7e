/**
 * Messages: the elements of a conversation.
 *
 * @module
 */
import { ValidationError } from "../errors/index.ts"
import {
  type AssistantMessage,
  type ContentPart,
  type Message,
  type SystemMessage,
  type ToolMessage,
  type UserMessage
} from "./messageShapes.ts"
import { errorText } from "../toolResult/index.ts"
import type { ToolCall } from "./ToolCall.ts"
import * as ToolResultEncoder from "../toolResult/ToolResultEncoder.ts"
import { messageFindings } from "./messageFindings.ts"
import { encodedParts, resultParts, resultText } from "./resultParts.ts"

export { Message } from "./messageShapes.ts"

/** Returns a valid message or throws: callers in JavaScript can break the types. */
const valid = <M extends Message>(message: M): M => {
  const found = messageFindings(message, [])
  if (found.length > 0) throw new ValidationError("invalid_message", found)
  return message
}

/** A system message. **Errors**: throws a `ValidationError` (`invalid_message`) for anything but text. */
export const system = (text: string): SystemMessage => valid({ role: "system", content: text })

/**
 * A user message, from text or from content parts.
 *
 * **Errors**: throws a `ValidationError` (`invalid_message`) for anything else, and for an image or file with invalid
 * base64 text.
 */
export const user = (said: string | ReadonlyArray<ContentPart>): UserMessage => valid({ role: "user", content: said })

/** An assistant message, with its tool calls, if any. **Errors**: as for {@link user}. */
export const assistant = (text: string, toolCalls: ReadonlyArray<ToolCall> = []): AssistantMessage =>
  valid({ role: "assistant", content: text, ...(toolCalls.length === 0 ? {} : { toolCalls }) })

/**
 * A tool message: the result of the call with that id.
 *
 * **Details**: text, and a list of text, image and file parts, become the message's content, an error its short reason, and
 * any other value its JSON. A part `{ type: "json", value }` of a list becomes a text part.
 *
 * **Errors**: throws a `ValidationError` (`invalid_message`) for a value that has no JSON form.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 *
 * Message.toolResult("call_1", { degrees: 21 }).content // => '{"degrees":21}'
 * ```
 */
export const toolResult = (toolCallId: string, result: unknown): ToolMessage =>
  valid({ role: "tool", content: contentOf(result), toolCallId })

const contentOf = (result: unknown): ToolMessage["content"] => {
  if (typeof result === "string") return result
  if (result instanceof Error) return errorText(result)
  try {
    const parts = resultParts(result)
    return parts === undefined
      ? ToolResultEncoder.json.encode(result)
      : encodedParts(parts, ToolResultEncoder.json.encode)
  } catch (cause) {
    throw new ValidationError("invalid_message", [{ field: ["content"], reason: "unencodable" }], { cause })
  }
}

/**
 * The text of a message: its string content, or its text parts joined. A tool message has a line for each part, with a short
 * text for an image or a file: its media type, its name, and its size or URL.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 *
 * const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
 * Message.text(Message.toolResult("call_1", [{ type: "text", text: "The page:" }, image]))
 * // => "The page:\n[image image/png, 8 B]"
 * ```
 */
export const text = (message: Message): string => {
  const { content, role } = message
  if (typeof content === "string") return content
  if (role === "tool") return resultText(content)
  return content.map((part) => (part.type === "text" ? part.text : "")).join("")
}
