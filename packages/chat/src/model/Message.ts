/**
 * Messages: the elements of a conversation.
 *
 * @module
 */
import * as z from "zod"
import { ValidationError } from "../errors/index.ts"
import {
  type AssistantMessage,
  ContentPart,
  type Message,
  type SystemMessage,
  type ToolMessage,
  type UserMessage
} from "./messageShapes.ts"
import { errorText } from "../toolResult/index.ts"
import type { ToolCall } from "./ToolCall.ts"
import * as ToolResultEncoder from "../toolResult/ToolResultEncoder.ts"
import { messageFindings } from "./messageFindings.ts"

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
 * **Details**: text and content parts become the message's content unchanged, an error its short reason, and any other
 * value its JSON.
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

const Parts = z.array(ContentPart).min(1)

const contentOf = (result: unknown): ToolMessage["content"] => {
  if (typeof result === "string") return result
  if (result instanceof Error) return errorText(result)
  if (Parts.safeParse(result).success) return result as ReadonlyArray<ContentPart>
  try {
    return ToolResultEncoder.json.encode(result)
  } catch (cause) {
    throw new ValidationError("invalid_message", [{ field: ["content"], reason: "unencodable" }], { cause })
  }
}

/** The text of a message: its string content, or its text parts joined. */
export const text = (message: Message): string =>
  typeof message.content === "string"
    ? message.content
    : message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
