/** Converts a submitted result to the content of its tool message. */
import { ToolError, ValidationError } from "../errors/index.ts"
import { ContentPart, messageFindings, reasonOf, type ToolMessage, unstorable } from "../model/index.ts"
import { defaultMaxToolResultCharacters, describe, json, tooLarge } from "../toolResult/index.ts"

/**
 * Text and content parts are used unchanged, any other value as JSON. Throws a `ToolError`: `encoding_failed` for a value
 * that has no JSON form or cannot be stored, `result_too_large` for a text of more than `maxCharacters`. Images and files
 * are not counted. Throws a `ValidationError` (`invalid_message`) for an image or a file that no provider can read.
 */
export const submittedContent = (
  toolCallId: string,
  value: unknown,
  maxCharacters = defaultMaxToolResultCharacters
): ToolMessage["content"] => {
  const content = contentOf(toolCallId, value)
  const characters =
    typeof content === "string"
      ? content.length
      : content.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0)
  const excess = tooLarge(characters, maxCharacters, { toolCallId })
  if (excess !== undefined) throw excess
  return content
}

const contentOf = (toolCallId: string, value: unknown): ToolMessage["content"] => {
  const failed = (message: string, cause?: unknown): ToolError =>
    new ToolError("encoding_failed", { toolCallId, cause, message: `The result of ${toolCallId} ${message}` })
  if (isContent(value)) {
    const unstored = unstorable(value)
    if (unstored.length > 0) throw failed(`cannot be stored: ${reasonOf(unstored)}; submit plain content parts`)
    const found = messageFindings({ role: "tool", toolCallId, content: value }, [toolCallId])
    if (found.length > 0) throw new ValidationError("invalid_message", found)
    return value
  }
  try {
    return json.encode(value)
  } catch (cause) {
    throw failed(`has no JSON form: ${describe(cause)}`, cause)
  }
}

const isContent = (value: unknown): value is Array<ContentPart> =>
  Array.isArray(value) && value.length > 0 && value.every((part) => ContentPart.safeParse(part).success)
