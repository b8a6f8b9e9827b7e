/** Text as both databases can keep it in a column of its own. What is kept as JSON needs none of this. */
import { ValidationError } from "@troupe/chat"

/** Whether both databases can tell this text from every other: it has no half character, and not the character 0. */
export const isDistinct = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/**
 * The id, if both databases can tell it from every other.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for one with half a character, or with the character 0.
 */
export const checkedId = (id: string): string => {
  if (typeof id === "string" && isDistinct(id)) return id
  throw new ValidationError("invalid_options", [{ field: ["id"], reason: "must_be_well_formed_text without NUL" }])
}

/** The text without what no database keeps. */
export const readable = (text: string): string => text.toWellFormed().replaceAll("\0", "")
