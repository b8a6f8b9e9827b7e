/**
 * Requests: what an adapter is asked to send.
 *
 * @module
 */
import * as z from "zod"
import { Message } from "./Message.ts"

/** A tool as the model sees it. */
export const ToolDeclaration = z.object({
  name: z.string(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()).optional()
})
export type ToolDeclaration = z.infer<typeof ToolDeclaration>

/**
 * Which tool the model must use: `"auto"` its choice, `"none"` no tool, `"required"` any tool, or one tool by name.
 */
export const ToolChoice = z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() })])
export type ToolChoice = z.infer<typeof ToolChoice>

/** The form of the answer: free text, any JSON object, or JSON of a schema. */
export const ResponseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    name: z.string(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().optional()
  })
])
export type ResponseFormat = z.infer<typeof ResponseFormat>

/**
 * One model request.
 *
 * **Details**: `options` are parameters for the provider's body, passed on as they are; everything else is the
 * adapter's to translate.
 *
 * **Units and defaults**: `temperature` 0 to 2, `maxTokens` a positive number of output tokens; absent means the
 * provider's default.
 */
export const Request = z.object({
  model: z.string().optional(),
  messages: z.array(Message).readonly(),
  tools: z.array(ToolDeclaration).readonly(),
  toolChoice: ToolChoice.optional(),
  temperature: z.number().optional(),
  maxTokens: z.number().optional(),
  responseFormat: ResponseFormat.optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional()
})
export type Request = z.infer<typeof Request>
