/**
 * The text of any thrown value. Code that throws may be foreign: no field of an error has to be a string.
 *
 * ETEXT1. No function here throws, whatever it gets.
 * ETEXT2. The text of an error that a place sends is cut to a part of `maxResultBytes`, so that it can always be sent.
 */

/** The message of an error, or another value as text. */
export const textOf = (thrown: unknown): string => {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return "something that has no text"
  }
}

/** The stack of an error, if it is a text: `Error.prepareStackTrace` may return anything. */
export const stackOf = (thrown: unknown): string | undefined => {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : undefined
  } catch {
    return undefined
  }
}

/** A text of at most so many characters. A surrogate pair at the end is left out whole (WELL1). */
export const cut = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`
