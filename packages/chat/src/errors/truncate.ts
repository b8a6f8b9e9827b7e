/** Bounds what an error tells of values that somebody else wrote: the values themselves stay whole where they are. */

/** The text up to so many characters, and how many are left out. */
export const shortened = (text: string, characters = 2_000): string => {
  if (text.length <= characters) return text
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(characters - 1))
  const kept = text.slice(0, isSplit ? characters - 1 : characters)
  return `${kept}… (${text.length - kept.length} characters more)`
}

/** What the model wrote, where an error names it. */
export const quoted = (text: string): string => shortened(text, 200)

/** The message of an error, without the places of a stack that some have in it. */
export const withoutStack = (message: string): string => {
  const place = message.search(/^ {4}at /m)
  return place < 0 ? message : message.slice(0, place).trimEnd()
}
