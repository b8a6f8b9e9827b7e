import { basename } from "node:path"
import { describe, expect, test } from "vitest"
import { avoidedIdentifiers, glossaryWords, wordsIn, wordsToAvoid } from "../../house/words.ts"
import { files, readText } from "../../house/workspace.ts"

const avoided = wordsToAvoid()
const sources = files("packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}", "tooling/*/**/*.ts")

const pages = files("README.md", "AGENTS.md", "docs/**/*.md", "packages/*/README.md", "apps/*/README.md").filter(
  (path) => path !== "docs/glossary.md" && !path.startsWith("docs/reference/")
)

const linesOf = (path: string) =>
  readText(path)
    .split("\n")
    .map((line) => ({ path, line }))

/** A line without inline code and quoted text. */
const withoutQuotes = (line: string): string => line.replaceAll(/`[^`]*`|"[^"]*"/g, "")

const commentLines = (path: string) =>
  linesOf(path).flatMap(({ line }) =>
    /^\s*(?:\/\*\*|\*|\/\/)/.test(line) ? [{ path, line: withoutQuotes(line) }] : []
  )

/** The lines of a page outside code blocks. */
const proseLines = (path: string) => {
  let isCode = false
  return linesOf(path).flatMap(({ line }) => {
    if (line.startsWith("```")) isCode = !isCode
    return isCode ? [] : [{ path, line: withoutQuotes(line) }]
  })
}

const isAvoided = (line: string): boolean =>
  wordsIn(line.replaceAll(/[A-Za-z]+(?=\()/g, "")).some((word) => avoided.has(word))

/** Identifiers of others, such as the conformance cases, that have such a word. */
const kept: ReadonlySet<string> = new Set(["wants", "questionIsToldTheCallId"])

describe("the glossary", () => {
  test("has at most forty words, each once", () => {
    const words = glossaryWords()
    expect(words.length).toBeLessThanOrEqual(40)
    expect(new Set(words).size).toBe(words.length)
  })

  test("lists words to avoid that are none of its own", () => {
    expect(glossaryWords().filter((word) => avoided.has(word))).toEqual([])
    expect([...avoided]).toEqual(expect.arrayContaining(["tell", "told", "hear", "want", "owe", "stray"]))
  })

  test("no identifier of a package, an app or the tooling uses a word to avoid", () => {
    const found = sources.flatMap((path) =>
      avoidedIdentifiers(readText(path), avoided)
        .filter((name) => !kept.has(name))
        .map((name) => `${path}: ${name}`)
    )
    expect(found).toEqual([])
  })

  test("no comment, and no page but the glossary and the move notes, uses a word to avoid", () => {
    const found = [...sources.flatMap(commentLines), ...pages.flatMap(proseLines)].filter(({ line }) => isAvoided(line))
    expect(found).toEqual([])
  })

  test("no file is named with a word to avoid", () => {
    expect(sources.filter((path) => wordsIn(basename(path)).some((word) => avoided.has(word)))).toEqual([])
  })
})

test("an identifier is found by each of its words, and never by a part of one", () => {
  const words = new Set(["told"])
  expect(avoidedIdentifiers("const isTold = 1, untoldStory = 2, old = 3\nclass A { #told = isTold }", words)).toEqual([
    "isTold",
    "told"
  ])
})
