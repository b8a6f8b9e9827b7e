/** What a caller submits as the result of a call, as the content of its tool message. */
import { ToolError, ValidationError } from "../ChatError.ts"
import { ContentPart } from "../ContentPart.ts"
import { messageFindings } from "./messageFindings.ts"
import type { ToolMessage } from "../Message.ts"
import { describe, json } from "../ToolResultEncoder.ts"

/**
 * Text and content parts as they are, anything else as JSON. Throws a `ToolError` (`encoding_failed`) for a value without a JSON
 * form, and a `ValidationError` (`invalid_message`) for an image or a file that no provider can read.
 */
export const submittedContent = (toolCallId: string, value: unknown): ToolMessage["content"] => {
  if (isContent(value)) {
    const found = messageFindings({ role: "tool", toolCallId, content: value }, [toolCallId])
    if (found.length > 0) throw new ValidationError("invalid_message", found)
    return value
  }
  try {
    return json.encode(value)
  } catch (cause) {
    throw new ToolError("encoding_failed", {
      toolCallId,
      cause,
      message: `The result of ${toolCallId} has no JSON form: ${describe(cause)}`
    })
  }
}

const isContent = (value: unknown): value is Array<ContentPart> =>
  Array.isArray(value) && value.length > 0 && value.every((part) => ContentPart.safeParse(part).success)
