import { describe, expect, test } from "vitest"
import { type Declared, declaredIn, isCommented, isEcho } from "../../house/publicDocs.ts"
import { publicNames } from "../../house/publicApi.ts"
import { files, readText, workspacePackages } from "../../house/workspace.ts"

const libraries = workspacePackages().filter((found) => found.kind === "library")
const laws = new Set(
  files("packages/*/src/**/*.{ts,tsx}").flatMap((path) => readText(path).match(/(?<=^ \* )[A-Z]+\d+(?=\. )/gm) ?? [])
)
const isOptions = ({ owner }: Declared): boolean => /(?:Options|^May)$/.test(owner)

describe.each(libraries)("in $folder", ({ folder }) => {
  const names = publicNames(folder)
  const keyOf = (name: string, doc: string | undefined) => `${name.split(".").at(-1)}: ${doc}`
  const shown = new Set(names.map(({ name, from, doc }) => keyOf(from?.name ?? name, doc)))
  const declared = files(`${folder}/src/**/*.{ts,tsx}`).flatMap((path) => {
    const found = declaredIn(readText(path))
    const owners = new Set(
      found.flatMap(({ name, owner, doc }) => (owner === "" && shown.has(keyOf(name, doc)) ? name : []))
    )
    return found.map((one) => ({ ...one, path, isShown: isOptions(one) || owners.has(one.owner || one.name) }))
  })
  const placesOf = (isWrong: (found: (typeof declared)[number]) => boolean) =>
    declared.filter(isWrong).map(({ path, owner, name }) => `${path} ${owner} ${name}`)

  test("DOC1. each field of an options type, and each member of a public type, has a doc comment", () => {
    expect(placesOf((found) => found.owner !== "" && found.isShown && !isCommented(found, declared))).toEqual([])
  })

  test("DOC2. no doc comment has only the words of its own name", () => {
    expect(placesOf(isEcho)).toEqual([])
  })

  test("DOC3. no doc comment of a public name, or of a member of its type, cites a law", () => {
    const citesLaw = (doc = ""): boolean => (doc.match(/\b[A-Z]+\d+\b/g) ?? []).some((law) => laws.has(law))
    expect(placesOf(({ doc, isShown }) => isShown && citesLaw(doc))).toEqual([])
  })
})

test.each([
  ["Options for the gate's.", true],
  ["How long the gate waits.", false],
  ["GATE1", false]
])("DOC2. %j has only the words of GateOptions: %j", (doc, echoes) => {
  expect(isEcho({ name: "GateOptions", owner: "", doc })).toBe(echoes)
})
