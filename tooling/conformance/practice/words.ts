/** Reads the words of an input: quoted texts, numbers, and tables of phrases. */

/** A word of an input that the runner does not know. The input is not examined. */
export class UnknownWords extends Error {}

/** A text in backticks, with its escapes, or bare words as they are. */
export const unquoted = (words: string): string => {
  const quoted = /^`([^`]*)`$/.exec(words.trim())?.[1]
  return quoted === undefined ? words.trim() : unescaped(quoted)
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\u([\da-f]{4})|\\n|\\t/gi, (escape, unit: string | undefined) =>
    unit === undefined ? (escape === "\\n" ? "\n" : "\t") : String.fromCharCode(Number.parseInt(unit, 16))
  )

/** Splits at a separator that is outside of backticks and braces. */
export const splitAt = (text: string, separator: RegExp): ReadonlyArray<string> => {
  const held: Array<string> = []
  const masked = text.replaceAll(/`[^`]*`|\{[^}]*\}/g, (whole) => `\0${held.push(whole) - 1}\0`)
  return masked.split(separator).map((part) => part.replaceAll(/\0(\d+)\0/g, (_, at) => held[Number(at)] ?? "").trim())
}

const counts = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

/** A number in digits or as a word: `5,000`, `two`, `twice`, `3 times`. */
export const countOf = (words = "one"): number => {
  const word = words.replace(/ times$/, "").toLowerCase()
  const named = ["never", "once", "twice"].indexOf(word)
  if (named !== -1) return named
  return counts.includes(word) ? counts.indexOf(word) : Number(word.replaceAll(",", ""))
}

/** The groups of a match, by name. */
export type Groups = Readonly<Record<string, string>>

/** Phrases and their meanings; the first that matches counts. */
export type Phrases<A> = ReadonlyArray<readonly [RegExp, (groups: Groups, words: string) => A]>

/** The meaning of a phrase, if the table has it. */
export const meaning = <A>(phrases: Phrases<A>, words: string): { readonly value: A } | undefined => {
  for (const [pattern, read] of phrases) {
    const match = pattern.exec(words)
    if (match !== null) return { value: read(match.groups ?? {}, words) }
  }
  return undefined
}

/** The meaning of a phrase. Throws `UnknownWords` for a phrase that the table does not have. */
export const meaningOf = <A>(phrases: Phrases<A>, words: string, what: string): A => {
  const found = meaning(phrases, words.trim())
  if (found === undefined) throw new UnknownWords(`the ${what} “${words}”`)
  return found.value
}
