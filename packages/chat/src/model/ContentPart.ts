/**
 * Content parts: the elements of a message besides plain text.
 *
 * @module
 */
import * as z from "zod"
import { openRecord } from "../values/index.ts"

/** A piece of text. */
export const TextPart = z
  .object({
    type: z.literal("text"),
    text: z.string(),
    metadata: openRecord.optional()
  })
  .readonly()
export type TextPart = z.infer<typeof TextPart>

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
export const ReasoningPart = z
  .object({
    type: z.literal("reasoning"),
    text: z.string(),
    metadata: openRecord.optional()
  })
  .readonly()
export type ReasoningPart = z.infer<typeof ReasoningPart>

/** One element of a message's content list. */
export const ContentPart = z.discriminatedUnion("type", [TextPart, ImagePart, FilePart, ReasoningPart])
export type ContentPart = z.infer<typeof ContentPart>
