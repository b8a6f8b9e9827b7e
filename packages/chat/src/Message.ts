/**
 * Messages: the lines of a conversation.
 *
 * @module
 */
import * as z from "zod"
import { ContentPart } from "./ContentPart.ts"
import { openRecord } from "./internal/open.ts"
import { ToolCall } from "./ToolCall.ts"

const metadata = openRecord.optional()
const content = z.union([z.string(), z.array(ContentPart).readonly()])

/** Instructions to the model; text only. */
export const SystemMessage = z
  .object({
    role: z.literal("system"),
    content: z.string(),
    name: z.string().optional(),
    metadata
  })
  .readonly()
export type SystemMessage = z.infer<typeof SystemMessage>

/** What a person said. */
export const UserMessage = z
  .object({ role: z.literal("user"), content, name: z.string().optional(), metadata })
  .readonly()
export type UserMessage = z.infer<typeof UserMessage>

/**
 * What the model said.
 *
 * **Details**: `toolCalls` is absent or non-empty. `metadata.finish_reason` is always set on messages a step built;
 * `metadata.ask_user: true` with `metadata.tool_call_id` marks a tool's question, `metadata.cancelled: true` a reply
 * that was cut short.
 */
export const AssistantMessage = z
  .object({
    role: z.literal("assistant"),
    content,
    toolCalls: z.array(ToolCall).readonly().optional(),
    name: z.string().optional(),
    metadata
  })
  .readonly()
export type AssistantMessage = z.infer<typeof AssistantMessage>

/** The result of one tool call, as text for the model. */
export const ToolMessage = z
  .object({
    role: z.literal("tool"),
    content,
    toolCallId: z.string(),
    name: z.string().optional(),
    metadata
  })
  .readonly()
export type ToolMessage = z.infer<typeof ToolMessage>

/** One message of a thread. */
export const Message = z.discriminatedUnion("role", [SystemMessage, UserMessage, AssistantMessage, ToolMessage])
export type Message = z.infer<typeof Message>

/** A system message. */
export const system = (text: string): SystemMessage => ({ role: "system", content: text })

/** A user message, from text or from content parts. */
export const user = (said: string | ReadonlyArray<ContentPart>): UserMessage => ({ role: "user", content: said })

/** An assistant message, with the calls it makes, if any. */
export const assistant = (text: string, toolCalls: ReadonlyArray<ToolCall> = []): AssistantMessage =>
  toolCalls.length === 0 ? { role: "assistant", content: text } : { role: "assistant", content: text, toolCalls }

/** A tool message: the answer to the call with that id. */
export const toolResult = (toolCallId: string, text: string): ToolMessage => ({
  role: "tool",
  content: text,
  toolCallId
})

/** The text of a message: its string content, or its text parts joined. */
export const text = (message: Message): string =>
  typeof message.content === "string"
    ? message.content
    : message.content.map((part) => (part.type === "text" ? part.text : "")).join("")
