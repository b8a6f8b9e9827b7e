import { describe, expect, test } from "vitest"
import { Chat, Engine, Fake, tool, user } from "../../src/index.ts"
import { jsonSchema } from "../../src/tools.ts"

type Schema = Readonly<Record<string, unknown>>

const issuesOf = async (schema: Schema, value: unknown, formats = false): Promise<ReadonlyArray<string>> => {
  const { issues = [] } = await jsonSchema(schema, { formats })["~standard"].validate(value)
  return issues.map(({ path = [], message }) =>
    [path.map(String).join("."), message].filter((part) => part !== "").join(": ")
  )
}

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const draft4 = "http://json-schema.org/draft-04/schema#"
const draft7 = "http://json-schema.org/draft-07/schema#"
const tree = {
  $id: "https://example.com/tree",
  $dynamicAnchor: "node",
  type: "object",
  properties: { children: { type: "array", items: { $dynamicRef: "#node" } } }
}

describe("SCHEMA1 a valid value is accepted, an invalid one is refused", () => {
  test.each<readonly [why: string, schema: Schema, valid: unknown, invalid: unknown]>([
    ["constants are compared by content", { const: { a: 1, b: [2] } }, { b: [2], a: 1 }, { a: 1, b: [3] }],
    ["a number and a text differ", { enum: ["1", { n: 0 }] }, { n: -0 }, 1],
    [
      "items are unique by content",
      { uniqueItems: true },
      [{ a: 1 }, { a: 2 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 }
      ]
    ],
    ["keywords apply without a type", { properties: { a: { type: "string" } }, required: ["a"] }, { a: "x" }, {}],
    ["a value of another type is free of a keyword", { required: ["a"], minLength: 3 }, 7, "xy"],
    ["decimals have multiples", { multipleOf: 0.01 }, 4.35, 4.351],
    ["a bigint is an integer", { type: "integer", minimum: 5 }, 12345678901234567890n, 4n],
    ["a length counts characters", { maxLength: 2 }, "😀😀", "😀😀😀"],
    ["patterns are Unicode patterns", { pattern: "^\\p{L}+$" }, "Grüße", "7"],
    ["in draft 4 a flag excludes the limit", { $schema: draft4, minimum: 3, exclusiveMinimum: true }, 4, 3],
    [
      "in draft 7 a reference replaces its siblings",
      { $schema: draft7, definitions: { a: { type: "number" } }, allOf: [{ $ref: "#/definitions/a", minimum: 5 }] },
      1,
      "x"
    ],
    ["later a reference has siblings", { $defs: { a: { type: "number" } }, $ref: "#/$defs/a", minimum: 5 }, 6, 1],
    [
      "a list of items is a tuple in every draft",
      { items: [{ type: "string" }], additionalItems: false },
      ["x"],
      ["x", 1]
    ],
    [
      "what no keyword evaluated is refused",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1 },
      { b: 1 }
    ],
    [
      "a dynamic reference is extended",
      {
        $id: "https://example.com/strict",
        $dynamicAnchor: "node",
        $ref: "tree",
        unevaluatedProperties: false,
        $defs: { tree }
      },
      { children: [{}] },
      { children: [{ daat: 1 }] }
    ],
    [
      "another document is followed as a definition with its address",
      { $ref: "https://example.com/age", $defs: { age: { $id: "https://example.com/age", type: "integer" } } },
      1,
      "x"
    ],
    ["null is accepted if it is `nullable`", { type: "string", nullable: true }, null, 7],
    ["at least one item is contained", { contains: { type: "number" }, maxContains: 1 }, ["a", 1], [1, 2]]
  ])("%s", async (_, schema, valid, invalid) => {
    expect(await issuesOf(schema, valid)).toEqual([])
    expect(await issuesOf(schema, invalid)).not.toEqual([])
  })

  test.each<readonly [part: string, schema: Schema]>([
    ["a reference to another document", { $ref: "https://example.com/other" }],
    ["a reference to a missing part", { $ref: "#/$defs/missing" }],
    ["a dialect of its own", { $schema: "https://example.com/dialect", type: "null" }],
    ["a pattern with a lookahead", { pattern: "^(?!x)" }],
    ["a pattern that is none", { pattern: "(" }],
    ["a pattern with many properties", { pattern: `[${"\\p{L}".repeat(20_000)}]7` }],
    ["a nested constant", { const: deep(20_000) }],
    ["a format", { format: "email" }],
    ["the negation of an undecided part", { not: { pattern: "(?!x)", type: "string" } }],
    ["one of undecided parts", { oneOf: [{ $ref: "https://a.example" }, { $ref: "https://b.example" }] }],
    [
      "a property whose name may match an undecided pattern",
      { patternProperties: { "(?!x)": true }, additionalProperties: false }
    ]
  ])("a value is accepted where %s cannot be decided", async (_, schema) => {
    expect(await issuesOf(schema, "x")).toEqual([])
    expect(await issuesOf(schema, { b: 1 })).toEqual([])
  })

  test("a format is checked on request", async () => {
    expect(await issuesOf({ format: "date" }, "tomorrow", true)).toEqual(["must be in the format date"])
    expect(await issuesOf({ format: "date" }, "2026-02-28", true)).toEqual([])
    expect(await issuesOf({ format: "of-its-own" }, "x", true)).toEqual([])
  })

  test("a value stays as it is: no default is filled in", async () => {
    const value = { a: 1 }
    const result = await jsonSchema({ properties: { b: { default: 2 } } })["~standard"].validate(value)
    expect(result).toEqual({ value: { a: 1 } })
  })
})

test("an issue has its path, and what is right in its place", async () => {
  const city = { type: "string", enum: ["Oslo", "Rome"] }
  const schema = {
    type: "object",
    properties: { city, days: { type: "integer" } },
    required: ["city"],
    additionalProperties: false
  }
  expect(await issuesOf(schema, { citi: "Oslo", days: 1.5 })).toEqual([
    "city: is missing",
    "days: must be integer, but is number",
    "citi: is unknown; did you mean city?"
  ])
  expect(await issuesOf(schema, { city: "Bonn" })).toEqual(['city: must be one of "Oslo", "Rome"'])
  expect(
    await issuesOf({ anyOf: [{ required: ["id"] }, { properties: { n: { type: "number" } } }] }, { n: "x" })
  ).toEqual(["fits none of 2 forms: id is missing; n must be number, but is string"])
})

test("SCHEMA2 a schema is compiled once, by the first value", async () => {
  let reads = 0
  const schema = {
    type: "object",
    get properties() {
      reads++
      return {}
    }
  }
  const { validate } = jsonSchema(schema)["~standard"]
  expect(reads).toBe(0)
  await validate({})
  const first = reads
  await validate({})
  await validate({ a: 1 })
  expect(reads).toBe(first)
})

describe("SCHEMA3 when a check takes too many steps or levels, it ends with one issue", () => {
  const doubled = (keyword: string): Schema => {
    const both = (index: number) => ({ [keyword]: [{ $ref: `#/$defs/${index}` }, { $ref: `#/$defs/${index}` }] })
    return {
      $ref: "#/$defs/0",
      $defs: [...Array.from({ length: 60 }, (_, index) => both(index + 1)), { properties: { a: true } }]
    }
  }
  test.each<readonly [string, Schema, unknown]>([
    ["an exponential schema", doubled("allOf"), {}],
    ["an exponential schema with marks", { ...doubled("anyOf"), unevaluatedProperties: false }, { a: 1 }],
    ["a schema of itself", { $ref: "#" }, 1],
    ["a nested value", { items: { $ref: "#" } }, deep(600)],
    ["a nested value that must be one of some", { enum: [1] }, deep(20_000)],
    ["a nested value that must differ from others", { uniqueItems: true }, deep(20_000)],
    ["unique items in unique items", { uniqueItems: true, items: { $ref: "#" } }, deep(600)],
    ["a large pattern and a long text", { pattern: "\\p{L}{900}".repeat(5) }, "a".repeat(100_000)]
  ])("%s", async (_, schema, value) => {
    const issues = await issuesOf(schema, value)
    expect(issues).toHaveLength(1)
    expect(issues[0]).toMatch(/^the check (?:took more than 1000000 steps|went more than 500 levels deep)$/)
  })

  test("a value with many faults has twenty issues", async () => {
    expect(
      await issuesOf(
        { items: { type: "string" } },
        Array.from({ length: 5_000 }, () => 1)
      )
    ).toHaveLength(20)
  })
})

test("PATTERN1 when a pattern would need exponential backtracking, the call of its tool ends at once", async () => {
  const seen: Array<unknown> = []
  const match = tool({
    name: "match",
    parameters: { type: "object", properties: { v: { type: "string", pattern: "^(a+)+$" } } },
    execute: (args) => {
      seen.push(args)
      return "ok"
    }
  })
  const call = (id: string, v: string) => ({ toolCall: { id, name: "match", arguments: { v } } })
  const adapter = Fake.make({
    scripts: [
      [call("c1", `${"a".repeat(5_000)}!`), call("c2", "aaa"), { finish: "tool_calls" }],
      [{ text: "Done." }, { finish: "stop" }]
    ]
  })
  const { steps } = await Chat.run(Engine.make({ adapter, tools: [match] }), [user("Go")])
  expect(steps[0]?.toolResults.map(({ content }) => content)).toEqual([
    '{"error":"invalid_arguments: v: must match the pattern ^(a+)+$"}',
    "ok"
  ])
  expect(seen).toEqual([{ v: "aaa" }])
})

describe("PATTERN1 a pattern means what it means in JavaScript", () => {
  const texts = [
    "",
    "a",
    "é",
    "\u00a0",
    "\ufeff",
    "\u2028",
    "\n",
    "\r",
    "\v",
    "π",
    "w-.",
    "/",
    "a\n",
    "foo",
    "\b",
    "😀",
    "🐲",
    "Q",
    "0",
    "{",
    "[",
    "123",
    "A-1"
  ]
  const patterns = String.raw`^\p{L}+$ ^\p{Letter}+$ \p{Script=Greek} ^\s$ ^[\s]$ ^\S$ ^[\S]$ ^[^\s]$ [\s\S] ^.$ ^[.]$ \u{1F600} ^\ud83d\ude00$ a$ \bfoo\b [\b] (?<n>a) ^[^[\]]+$ \d{2,3} ^\D$ a|b ^(?:a|b)?$ ^[🐲-🐳]$ \x41 ^[A-Z]-\d$`
  test.each(patterns.split(" "))("%s", async (pattern) => {
    const expression = new RegExp(pattern, "u")
    const found = await Promise.all(texts.map((text) => issuesOf({ pattern }, text)))
    expect(texts.filter((_, index) => found[index]?.length === 0)).toEqual(
      texts.filter((text) => expression.test(text))
    )
  })
})
