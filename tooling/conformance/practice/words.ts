/** Reads the words of an input: tables of phrases, quoted texts and numbers. */

import { NotRun } from "../runner/suite.ts"

/** Words that the runner does not know. The input is not examined. */
export class UnknownWords extends NotRun {}

/**
 * Phrases and their meanings; the first that matches counts. A key is a pattern with holes: `{n}` is a number, `{t}` a text in
 * backticks, `{q}` the same or bare words, `{w}` a name. The function gets what the table is about, and the text of each group.
 */
export type Table<A, C extends ReadonlyArray<unknown> = []> = Readonly<
  Record<string, (...args: [...C, ...ReadonlyArray<string>]) => A>
>

const holes = { "{n}": "([\\w,]+(?: times)?)", "{t}": "(`[^`]*`)", "{q}": "(`[^`]*`|[^`]+?)", "{w}": "([\\w-]+)" }

/** The meaning of a phrase. Throws `UnknownWords` if the table does not have it. */
export const meaningOf = <A, C extends ReadonlyArray<unknown>>(table: Table<A, C>, words: string, ...about: C): A => {
  for (const [key, read] of Object.entries(table)) {
    const pattern = Object.entries(holes).reduce((text, [hole, group]) => text.replaceAll(hole, group), key)
    const match = new RegExp(`^(?:${pattern})$`).exec(words.trim())
    if (match !== null) return read(...about, ...match.slice(1).map(unquoted))
  }
  throw new UnknownWords(`the words “${words}”`)
}

/** A text without its backticks, with its escapes; bare words as they are. */
const unquoted = (words = ""): string =>
  /^`[^`]*`$/.test(words)
    ? words.slice(1, -1).replaceAll(/\\u[\da-f]{4}|\\[nt]/gi, (escape) => JSON.parse(`"${escape}"`))
    : words

/** Splits at a separator that is outside of backticks and braces. */
export const splitAt = (text: string, separator: RegExp): ReadonlyArray<string> => {
  const held: Array<string> = []
  const masked = text.replaceAll(/`[^`]*`|\{[^}]*\}/g, (whole) => `\0${held.push(whole) - 1}\0`)
  return masked.split(separator).map((part) => part.replaceAll(/\0(\d+)\0/g, (_, at) => held[Number(at)] ?? "").trim())
}

const numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
const times = ["never", "once", "twice"]

/** A number in digits or as a word: `5,000`, `two`, `twice`, `3 times`. */
export const countOf = (words: string): number => {
  const word = words.replace(/ times$/, "").toLowerCase()
  const at = Math.max(numbers.indexOf(word), times.indexOf(word))
  return at === -1 ? Number(word.replaceAll(",", "")) : at
}
