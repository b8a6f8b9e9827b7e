/** Truncates foreign values in the text of errors; the values themselves are not changed. */

/** The text, truncated to `characters` with the number of omitted characters appended. */
export const shortened = (text: string, characters = 2_000): string => {
  if (text.length <= characters) return text
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(characters - 1))
  const kept = text.slice(0, isSplit ? characters - 1 : characters)
  return `${kept}… (${text.length - kept.length} characters more)`
}

/** A text of the model, truncated for an error message. */
export const quoted = (text: string): string => shortened(text, 200)

/** The message of an error without the stack frames that some messages contain. */
export const withoutStack = (message: string): string => {
  const place = message.search(/^ {4}at /m)
  return place < 0 ? message : message.slice(0, place).trimEnd()
}
