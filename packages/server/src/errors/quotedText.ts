/** Texts of clients in messages of errors. */

/** The first characters of a text. A surrogate pair at the end is left out whole (WELL1). */
export const beginningOf = (text: string, characters: number): string =>
  text.slice(0, characters).replace(/[\uD800-\uDBFF]$/u, "")

/** The beginning of a text in quotes. */
export const quoted = (text: string): string => JSON.stringify(beginningOf(text, 100))
