/**
 * The words that identifiers avoid, read from the glossary.
 *
 * @module
 */
import { factsOf } from "./moduleFacts.ts"
import { readText } from "./workspace.ts"

/** The cells of the table of `docs/glossary.md`. */
const glossary = (): ReadonlyArray<ReadonlyArray<string>> =>
  readText("docs/glossary.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split("|").map((cell) => cell.trim()))

/** The words to avoid: the last column of the glossary. */
export const wordsToAvoid = (): ReadonlySet<string> => {
  const words = glossary().flatMap((cells) => (cells.at(-2) ?? "").split(","))
  return new Set(words.map((word) => word.trim()).filter((word) => /^\w+$/.test(word)))
}

/** The words of the glossary that have a meaning. */
export const glossaryWords = (): ReadonlyArray<string> => glossary().map(([, word = ""]) => word)

/** The words of an identifier, in lower case: `toolCallView` has `tool`, `call` and `view`. */
export const wordsIn = (identifier: string): ReadonlyArray<string> =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)

/** The identifiers of a source that use a word to avoid, each once. */
export const avoidedIdentifiers = (text: string, avoided: ReadonlySet<string>): ReadonlyArray<string> =>
  [...factsOf(text).identifiers].filter((name) => wordsIn(name).some((word) => avoided.has(word)))
