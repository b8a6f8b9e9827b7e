import { basename } from "node:path"
import { describe, expect, test } from "vitest"
import { avoidedIdentifiers, glossaryWords, wordsIn, wordsToAvoid } from "../../house/words.ts"
import { files, readText } from "../../house/workspace.ts"

const avoided = wordsToAvoid()
const sources = files("packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}")

/** Identifiers of others, and of the public API, that have such a word. */
const kept: ReadonlySet<string> = new Set(["wants"])

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

  test("no identifier of a package or an app uses a word to avoid", () => {
    const found = sources.flatMap((path) =>
      avoidedIdentifiers(readText(path), avoided)
        .filter((name) => !kept.has(name))
        .map((name) => `${path}: ${name}`)
    )
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
