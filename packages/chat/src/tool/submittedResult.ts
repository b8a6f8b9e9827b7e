/**
 * Converts a submitted result to its tool message.
 *
 * RESULT3. An `Error` that the caller submits as a result is a failed call, and the model reads its text. So is the error of a tool that
 *          a client runs.
 */
import {
  type ChatBlobs,
  defaultMaxFileBytes,
  encodedParts,
  messageFindings,
  reasonOf,
  resultParts,
  resultSize,
  type ToolMessage,
  unstorable
} from "../model/index.ts"
import { wellFormed } from "../json/index.ts"
import { ToolError, ValidationError } from "../errors/index.ts"
import {
  defaultMaxToolResultCharacters,
  describe,
  errorText,
  json,
  type ResultLimits,
  tooLarge
} from "../values/index.ts"

/**
 * The tool message of a submitted result. An `Error` is a failed call, with the text that a model reads about a failure. Text and the
 * parts of a result are its content, any other value is written as JSON. Throws a `ToolError`:
 * `encoding_failed` for a value that has no JSON form or cannot be stored, `result_too_large` for a result beyond the
 * limits. Throws a `ValidationError` (`invalid_message`) for an image or a file that no
 * provider can read.
 */
export const submittedMessage = (
  toolCallId: string,
  value: unknown,
  limits: ResultLimits & { readonly blobs?: ChatBlobs | undefined } = usualLimits
): ToolMessage => {
  if (value instanceof Error) return { role: "tool", toolCallId, content: errorText(value), outcome: "failed" }
  const content = wellFormed(contentOf(toolCallId, value))
  const excess = tooLarge(resultSize(content, limits), limits, { toolCallId })
  if (excess !== undefined) throw excess
  const { blobs } = limits
  return {
    role: "tool",
    toolCallId,
    content: typeof content === "string" ? content : (blobs?.kept(content) ?? content)
  }
}

const usualLimits: ResultLimits = {
  maxToolResultCharacters: defaultMaxToolResultCharacters,
  maxFileBytes: defaultMaxFileBytes
}

const contentOf = (toolCallId: string, value: unknown): ToolMessage["content"] => {
  const failed = (message: string, cause?: unknown): ToolError =>
    new ToolError("encoding_failed", { toolCallId, cause, message: `The result of ${toolCallId} ${message}` })
  let content: ToolMessage["content"]
  try {
    const parts = resultParts(value)
    content = parts === undefined ? json.encode(value) : encodedParts(parts, json.encode)
  } catch (cause) {
    throw failed(`has no JSON form: ${describe(cause)}`, cause)
  }
  if (typeof content === "string") return content
  const unstored = unstorable(content)
  if (unstored.length > 0) throw failed(`cannot be stored: ${reasonOf(unstored)}; submit plain parts`)
  const found = messageFindings({ role: "tool", toolCallId, content }, [toolCallId])
  if (found.length > 0) throw new ValidationError("invalid_message", found)
  return content
}
