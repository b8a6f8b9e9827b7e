/**
 * Messages: the elements of a conversation.
 *
 * MSGPARTS1. The parts of a reply agree with its `content` and its `toolCalls`, which count: each call has one part, and
 *            the texts of the parts add up to the content. A text that was changed later is one part.
 * MSGPARTS2. A reply that was stored without parts has them in the order that was sent: reasoning, content, calls.
 *
 * @module
 */
import { ValidationError } from "../errors/index.ts"
import { bytesOfBase64, sha256 } from "../json/index.ts"
import { canonicalJson } from "../values/index.ts"
import { base64Of, blobOf, isMedia, mediaTypeOf } from "./mediaSource.ts"
import {
  type AssistantMessage,
  type AssistantPart,
  ContentPart,
  type FilePart,
  type ImagePart,
  type Message,
  type SystemMessage,
  type ToolMessage,
  type UserMessage
} from "./messageShapes.ts"
import { errorText } from "../values/index.ts"
import type { ToolCall } from "./ToolCall.ts"
import * as ToolResultEncoder from "../values/ToolResultEncoder.ts"
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

/**
 * Whether two messages have the same content, whatever the order of its keys.
 *
 * **Details**: an image or a file is the same as base64 text, as a `data:` URL, and as the reference that a chat keeps.
 */
export const isSame = (one: Message, other: Message): boolean => formOf(one) === formOf(other)

const formOf = ({ content }: Message): string =>
  canonicalJson(typeof content === "string" ? content : content.map((part) => (isMedia(part) ? mediaForm(part) : part)))

/** A part with the name of its bytes in place of its source. */
const mediaForm = (part: ImagePart | FilePart): object => {
  const base64 = base64Of(part)
  const blob = base64 === undefined ? blobOf(part)?.blob : sha256(bytesOfBase64(base64))
  return blob === undefined ? part : { ...part, [part.type]: { blob, mediaType: mediaTypeOf(part) } }
}

/**
 * The parts of a reply, in its order.
 *
 * **Details**: every reply has them, also one that was stored without `parts`: its reasoning comes first, then its content,
 * then its calls.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 *
 * const call = { id: "call_1", name: "now", arguments: {} }
 * const reply = Message.assistant("One moment.", [call])
 * Message.parts(reply)
 * // => [{ type: "text", text: "One moment." }, { type: "tool_call", toolCallId: "call_1" }]
 * ```
 */
export const parts = (message: AssistantMessage): ReadonlyArray<AssistantPart> => {
  const { content, parts: kept, toolCalls = [] } = message
  const listed = kept === undefined || typeof content !== "string" ? viewed(message) : withText(kept, content)
  const left = new Set(toolCalls.map(({ id }) => id))
  const named = listed.filter((part) => part.type !== "tool_call" || left.delete(part.toolCallId))
  return left.size === 0 ? named : [...named, ...Array.from(left, callPart)]
}

const callPart = (toolCallId: string): AssistantPart => ({ type: "tool_call", toolCallId })

/** The parts of a reply that has none. */
const viewed = ({ content, metadata }: AssistantMessage): ReadonlyArray<AssistantPart> => {
  const said: ReadonlyArray<ContentPart> = typeof content === "string" ? textParts(content) : content
  return [
    ...keptReasoning(metadata?.["reasoning"]),
    ...said.filter((part) => part.type === "reasoning"),
    ...said.filter((part) => part.type !== "reasoning")
  ]
}

const textParts = (content: string): ReadonlyArray<Extract<ContentPart, { type: "text" }>> =>
  content === "" ? [] : [{ type: "text", text: content }]

/** The reasoning that an adapter keeps in the metadata of a message. */
const keptReasoning = (kept: unknown): ReadonlyArray<AssistantPart> =>
  !Array.isArray(kept)
    ? []
    : kept.flatMap((part) => {
        const { data } = ContentPart.safeParse(part)
        return data?.type === "reasoning" ? [data] : []
      })

/** The parts, with a text that differs from theirs at the place of their first text, or before their first call. */
const withText = (kept: ReadonlyArray<AssistantPart>, content: string): ReadonlyArray<AssistantPart> => {
  if (kept.reduce((said, part) => (part.type === "text" ? said + part.text : said), "") === content) return kept
  const found = kept.findIndex(({ type }) => type === "text" || type === "tool_call")
  const at = found === -1 ? kept.length : found
  const others = (some: ReadonlyArray<AssistantPart>) => some.filter(({ type }) => type !== "text")
  return [...kept.slice(0, at), ...textParts(content), ...others(kept.slice(at))]
}
