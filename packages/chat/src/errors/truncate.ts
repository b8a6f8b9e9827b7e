/** Truncates foreign values in the text of errors; the values themselves are not changed. */

/** The end of a truncated text. */
const omission = /… \((?<omitted>\d{1,15}) characters more\)$/u

/**
 * The text, truncated to `characters` with the number of omitted characters appended. A text that is truncated already keeps one such
 * number, which counts the characters of the whole text.
 */
export const shortened = (text: string, characters = 2_000): string => {
  if (text.length <= characters) return text
  const [end = "", omitted = 0] = omission.exec(text.slice(-40)) ?? []
  const length = text.length - end.length
  if (length <= characters) return text
  const kept = beginningOf(text, characters)
  return `${kept}… (${length - kept.length + Number(omitted)} characters more)`
}

/** The first characters of a text. A surrogate pair at the end is kept or left out whole (WELL1). */
export const beginningOf = (text: string, characters: number): string => {
  const isSplit = text.length > characters && /[\uD800-\uDBFF]/.test(text.charAt(characters - 1))
  return text.slice(0, isSplit ? characters - 1 : characters)
}

/** A text of the model, truncated for an error message. */
export const quoted = (text: string): string => shortened(text, 200)

/** The message of an error without the stack frames that some messages contain. */
export const withoutStack = (message: string): string => {
  const place = message.search(/^ {4}at /m)
  return place < 0 ? message : message.slice(0, place).trimEnd()
}
