/**
 * Requests: the input of an adapter.
 *
 * @module
 */
import * as z from "zod"
import { openRecord } from "../values/index.ts"
import { Message } from "./messageShapes.ts"

/** Provider-specific values are passed on; the types name only values that all providers have. */
const ofProvider = z.custom<never>((value) => openRecord.safeParse(value).success)

/** A tool as the model sees it. */
export const ToolDeclaration = z.lazy(() =>
  z
    .object({
      name: z.string(),
      description: z.string(),
      schema: openRecord,
      /** A one-line description, for adapters that send short tool declarations. */
      summary: z.string().optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)
export type ToolDeclaration = z.infer<typeof ToolDeclaration>

/** A tool of the provider as the model sees it: the provider's id of the tool, and its settings. */
const ProviderToolDeclaration = z.lazy(() =>
  z.object({ name: z.string(), id: z.string(), args: openRecord, metadata: openRecord.optional() }).readonly()
)

/**
 * Which tool the model must use: `"auto"` lets it choose, `"none"` allows no tool, `"required"` any tool, or one tool by
 * name.
 */
export const ToolChoice = z.lazy(() =>
  z.union([z.enum(["auto", "none", "required"]), z.object({ name: z.string() }).readonly()])
)
export type ToolChoice = z.infer<typeof ToolChoice>

/** The form of the answer: free text, any JSON object, or JSON of a schema. */
export const ResponseFormat = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text") }).readonly(),
    z.object({ type: z.literal("json_object") }).readonly(),
    z
      .object({
        type: z.literal("json_schema"),
        name: z.string(),
        schema: openRecord,
        strict: z.boolean().optional()
      })
      .readonly()
  ])
)
export type ResponseFormat = z.infer<typeof ResponseFormat>

const requestSchema = z.lazy(() =>
  z
    .object({
      model: z.string().optional(),
      messages: z.array(Message).readonly(),
      tools: z.array(ToolDeclaration).readonly(),
      providerTools: z.array(ProviderToolDeclaration).readonly().optional(),
      toolChoice: z.union([ToolChoice, ofProvider]).optional(),
      temperature: z.number().optional(),
      maxTokens: z.number().optional(),
      responseFormat: z.union([ResponseFormat, ofProvider]).optional(),
      options: openRecord.optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)

/**
 * One model request.
 *
 * **Details**: `options` are parameters for the provider's body, passed on unchanged; the adapter translates everything
 * else. `providerTools` are tools that the provider declares: an adapter that cannot send them refuses the request with an
 * `AdapterError` (`unsupported_feature`).
 *
 * **Units and defaults**: `temperature` 0 to 2, `maxTokens` a positive number of output tokens; absent means the
 * provider's default.
 */
export interface Request extends z.infer<typeof requestSchema> {}
export const Request: z.ZodType<Request> = requestSchema
