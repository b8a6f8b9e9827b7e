/** What a caller submits as the result of a call, as the content of its tool message. */
import { ToolError } from "../ChatError.ts"
import { ContentPart } from "../ContentPart.ts"
import type { ToolMessage } from "../Message.ts"
import { describe, json } from "../ToolResultEncoder.ts"

/** Text and content parts as they are, anything else as JSON; throws a `ToolError` (`encoding_failed`) for what has none. */
export const submittedContent = (toolCallId: string, value: unknown): ToolMessage["content"] => {
  if (isContent(value)) return value
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
