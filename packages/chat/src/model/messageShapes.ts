/** The data of messages and of their content parts. */
import * as z from "zod"
import { openRecord } from "../values/index.ts"
import { Outcome } from "./Outcome.ts"
import { ToolCall } from "./ToolCall.ts"

/** A piece of text. */
const TextPart = z
  .object({
    type: z.literal("text"),
    text: z.string(),
    metadata: openRecord.optional()
  })
  .readonly()
type TextPart = z.infer<typeof TextPart>

/**
 * An image, by URL (`http:`, `https:` or `data:`) or as base64 text with an image media type.
 *
 * **Details**: `Validate.message` refuses any other URL, because a provider that cannot read it refuses every later request
 * of the conversation too. `metadata` belongs to the program; only its `providerOptions` and `providerMetadata` reach a
 * provider.
 *
 * **Units and defaults**: `detail` is the resolution hint of some providers, `"auto"` when absent.
 */
export const ImagePart = z
  .object({
    type: z.literal("image"),
    image: z.union([
      z.object({ url: z.string() }).readonly(),
      z.object({ base64: z.string(), mediaType: z.string() }).readonly()
    ]),
    detail: z.enum(["auto", "low", "high"]).optional(),
    metadata: openRecord.optional()
  })
  .readonly()
export type ImagePart = z.infer<typeof ImagePart>

/** A file of any media type, by URL (`http:`, `https:` or `data:`) or as base64 text. */
export const FilePart = z
  .object({
    type: z.literal("file"),
    file: z.union([z.object({ url: z.string() }).readonly(), z.object({ base64: z.string() }).readonly()]),
    mediaType: z.string(),
    filename: z.string().optional(),
    metadata: openRecord.optional()
  })
  .readonly()
export type FilePart = z.infer<typeof FilePart>

/** The reasoning of a model, kept so that it can be sent back to the same provider. */
const ReasoningPart = z
  .object({
    type: z.literal("reasoning"),
    text: z.string(),
    metadata: openRecord.optional()
  })
  .readonly()
type ReasoningPart = z.infer<typeof ReasoningPart>

/** One element of a message's content list. */
export const ContentPart = z.discriminatedUnion("type", [TextPart, ImagePart, FilePart, ReasoningPart])
export type ContentPart = z.infer<typeof ContentPart>

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

/** The message of a user. */
export const UserMessage = z
  .object({ role: z.literal("user"), content, name: z.string().optional(), metadata })
  .readonly()
export type UserMessage = z.infer<typeof UserMessage>

/**
 * The reply of the model.
 *
 * **Details**: `toolCalls` is absent or non-empty. `metadata.finish_reason` is always set on messages that a step built;
 * `metadata.ask_user: true` with `metadata.tool_call_id` marks a tool's question, `metadata.cancelled: true` a reply that
 * was cut short.
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

/**
 * The result of one tool call: text for the model, or texts, images and files in order. `outcome` is how the call ended; it
 * is absent if the caller answered the call.
 */
export const ToolMessage = z
  .object({
    role: z.literal("tool"),
    content,
    toolCallId: z.string(),
    outcome: Outcome.optional(),
    name: z.string().optional(),
    metadata
  })
  .readonly()
export type ToolMessage = z.infer<typeof ToolMessage>

/** One message of a thread. */
export const Message = z.discriminatedUnion("role", [SystemMessage, UserMessage, AssistantMessage, ToolMessage])
export type Message = z.infer<typeof Message>
