import { describe, expect, test } from "vitest"
import { codeLinesOf, factsOf } from "../../house/moduleFacts.ts"
import { docComplaint } from "../../house/publicApi.ts"

const docOf = (text: string): string | undefined => factsOf(text).exports[0]?.doc

describe("imports", () => {
  test("are found whatever their form", () => {
    const text = [
      'import "a"',
      'import type { B } from "b"',
      'export * from "c"',
      'export { d } from "d"',
      'type E = import("e").E',
      'const f = () => import("f")'
    ]
    expect(factsOf(text.join("\n")).imports).toEqual(["a", "b", "c", "d", "e", "f"])
  })

  test("are not found in comments and strings", () => {
    expect(factsOf('// import "a"\nconst text = \'import "b"\'').imports).toEqual([])
  })
})

describe("an export's doc comment", () => {
  test("is the one right above its declaration", () => {
    expect(docOf("/** Adds. */\nexport const add = 1")).toBe("Adds.")
    expect(docOf("/** Adds. */\nconst other = 1\nexport const add = 1")).toBeUndefined()
  })

  test("is not a module header, and not a plain comment", () => {
    expect(docOf("/**\n * Sums.\n *\n * @module\n */\nexport const add = 1")).toBeUndefined()
    expect(docOf("/* Adds. */\nexport const add = 1")).toBeUndefined()
  })

  test("may stand at the first overload, or at the value of a value-and-type pair", () => {
    const overloads =
      "/** Adds. */\nexport function add(a: 1): 1\nexport function add(a: 2): 2\nexport function add(a: 1 | 2) { return a }"
    expect(factsOf(overloads).exports).toEqual([{ name: "add", kind: "value", doc: "Adds." }])
    expect(factsOf("/** A shape. */\nexport const Shape = 1\nexport type Shape = 1").exports).toHaveLength(1)
  })

  test("of a name exported later is the one of its declaration", () => {
    expect(docOf("/** Adds. */\nconst add = 1\nexport { add }")).toBe("Adds.")
  })

  test.each([
    [undefined, "has no doc comment"],
    ["@returns nothing", "opens with a tag instead of a sentence"],
    ["adds things", "does not open with a sentence"],
    ["Adds two numbers.\n\n**Details**: both are finite", undefined]
  ])("%j is judged: %j", (doc, complaint) => {
    expect(docComplaint({ module: "Sum", name: "add", kind: "value", doc })).toBe(complaint)
  })
})

test("a line of code is neither blank nor comment", () => {
  expect(codeLinesOf("/**\n * a\n */\n// b\n\nconst c = 1 // d\n/* e */\nf()\n")).toBe(2)
})
