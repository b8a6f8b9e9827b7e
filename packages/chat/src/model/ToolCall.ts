/**
 * A tool call: the request of a model to a tool.
 *
 * @module
 */
import * as z from "zod"
import { withRawIntegers } from "../json/index.ts"
import { openRecord } from "../values/index.ts"

const toolCallSchema = z.lazy(() =>
  z
    .object({
      id: z.string(),
      name: z.string(),
      arguments: openRecord.nullable(),
      rawArguments: z.string().optional(),
      problem: z.string().optional(),
      metadata: openRecord.optional()
    })
    .readonly()
)

/**
 * One tool call of an assistant message.
 *
 * **Details**: `arguments` is the parsed JSON object, or `null` when the model's text is not a JSON object; `rawArguments`
 * is the original text. A call with `null` arguments is never executed: it ends as an `invalid_arguments` error. `metadata`
 * carries provider data that must be sent back (for example thought signatures). `problem` is why `arguments` is `null`
 * although its text is a JSON object: it is larger than `maxToolArgumentCharacters`, or cannot be stored. In `arguments` an integer
 * beyond 2^53 is rounded; the handler gets it exactly.
 */
export interface ToolCall extends z.infer<typeof toolCallSchema> {}
export const ToolCall: z.ZodType<ToolCall> = toolCallSchema

/**
 * Parses the argument text of a call: the JSON object, `{}` for an empty text, or `null` when it is not a JSON object.
 *
 * **Gotchas**: nothing is repaired. Truncated JSON is `null`, however it begins.
 */
export const parseArguments = (raw: string): Record<string, unknown> | null => {
  if (raw.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** The arguments for `JSON.stringify`, which writes each integer beyond 2^53 as the model wrote it; `null` when the arguments are. */
export const writtenArguments = ({
  arguments: args,
  rawArguments
}: Pick<ToolCall, "arguments" | "rawArguments">): Record<string, unknown> | null =>
  args === null ? null : withRawIntegers(args, rawArguments)
