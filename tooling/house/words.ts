/**
 * The words that identifiers avoid, read from the glossary.
 *
 * @module
 */
import { parse, textOf, walk } from "./syntax.ts"
import { readText } from "./workspace.ts"

/** The words to avoid: the last column of the table of `docs/glossary.md`. */
export const wordsToAvoid = (): ReadonlySet<string> => {
  const rows = readText("docs/glossary.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split("|").at(-2) ?? "")
  return new Set(
    rows.flatMap((cell) => cell.split(",").map((word) => word.trim())).filter((word) => /^\w+$/.test(word))
  )
}

/** The words of the glossary that have a meaning. */
export const glossaryWords = (): ReadonlyArray<string> =>
  readText("docs/glossary.md")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.split("|")[1]?.trim() ?? "")

/** The words of an identifier, in lower case: `toolCallView` has `tool`, `call` and `view`. */
export const wordsIn = (identifier: string): ReadonlyArray<string> =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)

/** The identifiers of a source that use a word to avoid, each once. */
export const avoidedIdentifiers = (text: string, avoided: ReadonlySet<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const node of walk(parse(text))) {
    if (node.type !== "Identifier" && node.type !== "PrivateIdentifier") continue
    const name = textOf(node, "name")
    if (wordsIn(name).some((word) => avoided.has(word))) found.add(name)
  }
  return [...found]
}
