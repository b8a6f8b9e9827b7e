/** Memories: short texts that outlive the chat that they are of, by scope; as data. */
import * as z from "zod"
import { ValidationError } from "../errors/index.ts"
import { wellFormed } from "../json/index.ts"

/**
 * A text that was remembered.
 *
 * **Units and defaults**: `id` is unique in its scope. `at` is in milliseconds since the epoch.
 */
export interface Memory {
  /** The same for its whole life. */
  readonly id: string
  /** What was remembered. */
  readonly text: string
  /** When it was stored. */
  readonly at: number
}

/** The most characters of a memory. */
const longestMemory = 2_000

/**
 * A change of the memories of a scope.
 *
 * - `remember`: adds a memory; nothing if the scope has one of this id, or has forgotten it
 * - `forget`: removes the memory of this id
 */
export const MemoryChange = z.discriminatedUnion("type", [
  z.object({ type: z.literal("remember"), id: z.string(), text: z.string() }).readonly(),
  z.object({ type: z.literal("forget"), id: z.string() }).readonly()
])
export type MemoryChange = z.infer<typeof MemoryChange>

/** The change that remembers a text. Throws a `ValidationError` (`invalid_options`) for a text that no memory may have. */
export const remembering = (id: string, text: string): MemoryChange => {
  const found = [
    ...(typeof id === "string" && id !== "" && id.length <= 256
      ? []
      : [{ field: ["id"], reason: "must_be_a_text of 1 to 256 characters" }]),
    ...(typeof text === "string" && text.trim() !== "" && text.length <= longestMemory
      ? []
      : [{ field: ["text"], reason: `must_be_a_text of 1 to ${longestMemory} characters` }])
  ]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return { type: "remember", id, text: wellFormed(text) }
}
