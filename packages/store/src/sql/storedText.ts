/** Text as both databases can keep it in a column of its own. What is kept as JSON needs none of this. */
import { ValidationError } from "@troupe/chat"

/** Whether both databases can tell this text from every other: it has no half character, and not the character 0. */
export const isDistinct = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Bytes of UTF-8 that an id may have: what PostgreSQL finds rows by has room for some more. */
const longestId = 2_048

/**
 * The id, if both databases can tell it from every other.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for one with half a character, or with the character 0, or of more
 * bytes than there is room for.
 */
export const checkedId = (id: string): string => {
  if (typeof id !== "string" || !isDistinct(id)) throw refusedId("must_be_well_formed_text without NUL")
  if (Buffer.byteLength(id) > longestId) throw refusedId(`must_be_at_most ${longestId} bytes of UTF-8`)
  return id
}

const refusedId = (reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: ["id"], reason }])

/** The text without what no database keeps. */
export const readable = (text: string): string => text.toWellFormed().replaceAll("\0", "")
