import { describe, expect, it, test } from "@effect/vitest"
import { Arbitrary } from "effect"
import { PartialJson, unfenced } from "../../src/json/partialJson.ts"
import { choice, type Gen, list, mapOf, oneOf, text } from "../double/arbitrary.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const read = (...fragments: ReadonlyArray<string>): unknown => {
  const json = new PartialJson()
  for (const fragment of fragments) json.push(fragment)
  return json.value
}

/** The values after each character. */
const shown = (whole: string): ReadonlyArray<unknown> => {
  const json = new PartialJson()
  return whole.split("").map((character) => {
    json.push(character)
    return json.value
  })
}

const valueOf = (depth: number): Gen<unknown> => {
  const flat = choice<unknown>(text, oneOf<unknown>(0, 1, -2.5, 1e21, 1e-7, true, false, null, "", "😀", "\u0000"))
  return depth === 0 ? flat : choice<unknown>(flat, list(valueOf(depth - 1)), mapOf(valueOf(depth - 1)))
}

const texts = Arbitrary.map(
  Arbitrary.all([choice<unknown>(mapOf(valueOf(2)), list(valueOf(2))), list(text)]),
  ([value, spaces]) => JSON.stringify(value, undefined, spaces.length)
)

const plain = (whole: string): unknown => JSON.parse(JSON.stringify(JSON.parse(whole)))

it.prop(
  "PARTIAL1 a complete text has the value of JSON.parse, however it is cut",
  { whole: texts },
  ({ whole }) => {
    expect(read(whole)).toEqual(plain(whole))
    expect(shown(whole).at(-1)).toEqual(plain(whole))
  },
  runsOf(100)
)

it.prop(
  "PARTIAL1 a beginning has the same value, however it is cut",
  { whole: texts },
  ({ whole }) => {
    const half = whole.slice(0, Math.floor(whole.length / 2))
    expect(read(...half.split(""))).toEqual(read(half))
  },
  runsOf(100)
)

test.each([
  '{"__proto__":{"a":1},"b":2}',
  '{"a":1,"a":2}',
  "[-0.5e+3,1e400,-0]",
  String.raw`["\u00e9\ud83d\ude00\n\/\\\""]`,
  " \n[ ] ",
  '{"":""}',
  '"alone"'
])("PARTIAL1 %s", (whole) => {
  expect(shown(whole).at(-1)).toEqual(plain(whole))
  expect(Object.keys(read(whole) as object)).toEqual(Object.keys(JSON.parse(whole) as object))
})

describe("PARTIAL2 while the text grows", () => {
  test("a string shows its beginning, and a pair of surrogates comes whole", () => {
    expect(read('{"a":"so')).toEqual({ a: "so" })
    expect(read('{"a":"')).toEqual({ a: "" })
    expect(read(String.raw`["a\u00`)).toEqual(["a"])
    expect(read(String.raw`["a\ud83d`)).toEqual(["a"])
    expect(read(String.raw`["a\ud83d\ude00`)).toEqual(["a😀"])
  })

  test("a number, a word and a field appear when they are complete", () => {
    expect(read("[12")).toEqual([])
    expect(read("[12,")).toEqual([12])
    expect(read("[tru")).toEqual([])
    expect(read("[true]")).toEqual([true])
    expect(read('{"na')).toEqual({})
    expect(read('{"name"')).toEqual({})
    expect(read('{"name":')).toEqual({})
    expect(read('{"name":{"first":"A')).toEqual({ name: { first: "A" } })
  })

  test("there is no value before the first", () => {
    expect(read()).toBeUndefined()
    expect(read(" \n")).toBeUndefined()
    expect(read("{")).toEqual({})
  })
})

it.prop(
  "PARTIAL3 a value does not change after it was given",
  { whole: texts },
  ({ whole }) => {
    const json = new PartialJson()
    const given = whole.split("").map((character) => {
      json.push(character)
      return { value: json.value, shownAs: JSON.stringify(json.value) }
    })
    for (const { value, shownAs } of given) expect(JSON.stringify(value)).toBe(shownAs)
  },
  runsOf(100)
)

test("PARTIAL3 values share what is closed, and without a change they are the same", () => {
  const json = new PartialJson()
  json.push('{"a":{"b":1},"c":[')
  const before = json.value as Record<string, unknown>
  expect(json.value).toBe(before)
  json.push("1,")
  const after = json.value as Record<string, unknown>
  expect(after).toEqual({ a: { b: 1 }, c: [1] })
  expect(after["a"]).toBe(before["a"])
})

test("PARTIAL4 a long list shows whole members, in blocks, and all of them at its end", () => {
  const members = Array.from({ length: 3_000 }, (_, index) => ({ index }))
  const whole = JSON.stringify({ members })
  const json = new PartialJson()
  let least = 0
  for (const character of whole) {
    json.push(character)
    const now = (json.value as { members?: ReadonlyArray<unknown> }).members ?? []
    expect(now.length).toBeGreaterThanOrEqual(least)
    least = now.length
  }
  expect(json.value).toEqual({ members })
  expect((read(whole.slice(0, -2)) as { members: ReadonlyArray<unknown> }).members.length).toBeGreaterThan(2_950)
  expect(
    read(JSON.stringify(Object.fromEntries(members.map(({ index }) => [`k${index}`, index]))).slice(0, -1))
  ).toEqual(Object.fromEntries(members.slice(0, 2_976).map(({ index }) => [`k${index}`, index])))
})

describe("PARTIAL5 text that is not JSON", () => {
  test.each([
    ["Sure! {", undefined],
    ['{"a":1,,"b":2}', { a: 1 }],
    ['{"a":1]', { a: 1 }],
    ["[1,}", [1]],
    ["[01,2]", []],
    ['["a\n"]', ["a"]],
    [String.raw`["\x"]`, [""]],
    [String.raw`["\u00zz"]`, [""]],
    ["[1] [2]", [1]],
    ["[1,]", [1]],
    ['{"a" 1}', {}],
    ["[nul]", []]
  ])("%j leaves the value as it is", (whole, value) => {
    expect(read(whole)).toEqual(value)
    expect(shown(whole).at(-1)).toEqual(value)
  })

  test("is text of more than 100 levels, too", () => {
    expect(JSON.stringify(read("[".repeat(100)))).toBe("[".repeat(100) + "]".repeat(100))
    expect(JSON.stringify(read("[".repeat(5_000)))).toBe("[".repeat(100) + "]".repeat(100))
  })
})

describe("PARTIAL6 the line that opens a code fence", () => {
  test.each(["```json\n", "```\n", " \n```JSON \r\n"])("%j is skipped, however the text is cut", (fence) => {
    const whole = `${fence}{"a":[1,"so"]}\n\`\`\`\n`
    expect(read(whole)).toEqual({ a: [1, "so"] })
    expect(shown(whole).at(-1)).toEqual({ a: [1, "so"] })
    expect(read(`${fence}{"a":[1,"s`)).toEqual({ a: [1, "s"] })
    expect(JSON.parse(unfenced(whole))).toEqual({ a: [1, "so"] })
  })

  test("is not skipped with another word, twice, or inside of the text", () => {
    const broken = ["```ts\n[1]", "``\n[1]", `\`\`\`json${" ".repeat(50)}\n[1]`, "```\n```\n[1]"]
    for (const whole of broken) {
      expect(read(whole)).toBeUndefined()
      expect(shown(whole).at(-1)).toBeUndefined()
    }
    expect(read("[```json\n1]")).toEqual([])
    for (const whole of ['{"a":"```json"}', "```json\n[1]", "```ts\n[1]```", "[1]"]) expect(unfenced(whole)).toBe(whole)
  })
})
