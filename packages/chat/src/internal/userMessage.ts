/** What a person says, as a message. */
import { ValidationError } from "../ChatError.ts"
import type { ContentPart } from "../ContentPart.ts"
import type { UserMessage } from "../Message.ts"
import * as Validate from "../Validate.ts"

/** What a person says: text, content parts, or a whole message. */
export type UserInput = string | Array<ContentPart> | UserMessage

/** The message, apart from what its sender keeps; throws a `ValidationError` (`invalid_message`) for what is none. */
export const userMessage = (input: UserInput): UserMessage => {
  const message: UserMessage =
    typeof input === "string" || Array.isArray(input) ? { role: "user", content: input } : input
  const invalid = Validate.message(message)
  if (invalid !== undefined) throw invalid
  if (message.role !== "user")
    throw new ValidationError("invalid_message", [{ field: ["role"], reason: "must_be_user" }])
  return typeof input === "string" ? message : copyOf(message)
}

const copyOf = (message: UserMessage): UserMessage => {
  try {
    return structuredClone(message)
  } catch (cause) {
    throw new ValidationError("invalid_message", [{ field: [], reason: "must_be_plain_data" }], { cause })
  }
}
