import { describe, expect, test } from "vitest"
import * as z from "zod"
import { ValidationError } from "../../src/errors.ts"
import { tool } from "../../src/index.ts"
import { StructuredOutput } from "../../src/models.ts"
import { jsonSchema } from "../../src/tools.ts"

type Schema = Readonly<Record<string, unknown>>

const schemaOf = (parameters: object, shown?: Schema): Schema =>
  tool({ name: "t", parameters: parameters as Schema, jsonSchema: shown, execute: () => 1 }).schema

const refusal = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    return error.errors.map(({ field, reason }) => `${field.join(".")}: ${reason}`)
  }
}

const city = { type: "string" }

describe("SCHEMA4 when a tool is defined, its JSON Schema is refused for", () => {
  test.each<readonly [why: string, schema: object, findings: ReadonlyArray<string>]>([
    [
      "an unknown type",
      { type: "object", properties: { a: { type: "strng" }, b: { items: { type: ["number", "float"] } } } },
      [
        't.parameters.properties.a.type: "strng" is unknown; did you mean string?',
        't.parameters.properties.b.items.type: "float" is unknown; use string, number, integer, boolean, object, array, null, or leave type out for any value'
      ]
    ],
    [
      "a type that is no word",
      { type: "object", properties: { a: { type: 5 } } },
      [
        "t.parameters.properties.a.type: 5 is unknown; use string, number, integer, boolean, object, array, null, or leave type out for any value"
      ]
    ],
    [
      "a reference to a part that is missing",
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/Cty" }, b: { $ref: "#/definitions/City" } },
        $defs: { City: city }
      },
      [
        't.parameters.properties.a.$ref: "#/$defs/Cty" is no part of the schema; did you mean #/$defs/City?',
        't.parameters.properties.b.$ref: "#/definitions/City" is no part of the schema; did you mean #/$defs/City?'
      ]
    ],
    [
      "a reference without any definition",
      { type: "object", properties: { a: { $ref: "#/components/schemas/City" } } },
      [
        't.parameters.properties.a.$ref: "#/components/schemas/City" is no part of the schema; put the schema there, or write it in place of the reference'
      ]
    ],
    [
      "fields in place of a schema",
      { city, days: { type: "integer" } },
      ['t.parameters: must_be_the_schema of an object; write { type: "object", properties: { city, days } }']
    ],
    [
      "a field that is called type",
      { type: { type: "string" }, city },
      ['t.parameters: must_be_the_schema of an object; write { type: "object", properties: { type, city } }']
    ],
    [
      "zod types in place of a schema",
      { city: z.string() },
      ["t.parameters: must_be_the_schema of an object; write z.object({ city })"]
    ],
    [
      "a value that is no object",
      { type: "string" },
      ['t.parameters.type: must_be object, as arguments are; write { type: "object", properties: { value: … } }']
    ],
    [
      "a zod type that is no object",
      z.string(),
      ["t.parameters.type: must_be object, as arguments are; write z.object({ value: … })"]
    ]
  ])("%s", (_, schema, findings) => {
    expect(refusal(() => schemaOf(schema))).toEqual(findings)
  })

  test("the schema that a definition shows in place of its own", () => {
    expect(
      refusal(() => schemaOf(z.object({ a: z.coerce.bigint() }), { type: "object", items: { type: "int" } }))
    ).toEqual(['t.jsonSchema.items.type: "int" is unknown; did you mean integer?'])
  })

  test.each<readonly [why: string, schema: object, shown: Schema]>([
    ["no keyword", {}, { type: "object", properties: {} }],
    ["properties alone", { properties: { city } }, { type: "object", properties: { city } }],
    ["a choice of objects", z.union([z.object({ a: z.null() })]), { type: "object", anyOf: [{ type: "object" }] }],
    ["a schema of itself", { $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#" } } } }, {}],
    ["an anchor", { $ref: "#a", $defs: { a: { $anchor: "a" } } }, {}],
    ["another document", { properties: { a: { $ref: "https://example.com/a" } } }, {}],
    ["a dialect of its own", { $schema: "https://example.com/x", properties: { a: { type: "word" } } }, {}],
    ["a value that looks like a schema", { properties: { a: { default: { type: "x" } } } }, {}],
    ["a field that is called type", { properties: { type: { enum: ["a"] } } }, {}],
    ["null beside an object", { type: ["object", "null"] }, { type: "object" }]
  ])("and accepted with %s, as the schema of an object", (_, schema, shown) => {
    expect(schemaOf(schema)).toMatchObject({ ...shown, type: "object" })
  })

  test("the schema of an answer, which may have any type", () => {
    expect(refusal(() => StructuredOutput.format("a", { type: "strng" }))).toEqual([
      'schema.type: "strng" is unknown; did you mean string?'
    ])
    expect(StructuredOutput.format("a", { type: "array", items: city }).schema).toEqual({ type: "array", items: city })
  })

  test.each<readonly [why: string, run: () => unknown, finding: string]>([
    ["null", () => jsonSchema(null as never), "schema: must_be_an_object of names and values"],
    ["a text", () => jsonSchema("{}" as never), "schema: must_be_an_object of names and values"],
    ["an option", () => jsonSchema({}, { format: true } as never), "format: unknown; did you mean formats?"],
    ["a value of an option", () => jsonSchema({}, { formats: "date" as never }), "formats: must_be_a_boolean"],
    ["no options", () => jsonSchema({}, null as never), "must_be_an_object of options"]
  ])("jsonSchema refuses %s", (_, run, finding) => {
    expect(refusal(run)).toEqual([finding.includes(": ") ? finding : `: ${finding}`])
  })
})

describe("SCHEMA5 when zod cannot write a type as JSON Schema, the error says which type to write", () => {
  test.each<readonly [string, z.ZodType, RegExp, z.ZodType]>([
    [
      "bigint",
      z.bigint(),
      /z\.int\(\).*z\.string\(\)\.regex\(\/\^-\?\\d\+\$\/\)\.transform\(BigInt\)/u,
      z
        .string()
        .regex(/^-?\d+$/)
        .transform(BigInt)
    ],
    ["int64", z.int64(), /transform\(BigInt\)/u, z.int()],
    ["a bigint literal", z.literal(3n), /z\.literal\(3\)/u, z.literal(3)],
    ["date", z.date(), /z\.iso\.datetime\(\)/u, z.iso.datetime()],
    ["map", z.map(z.string(), z.string()), /z\.record\(z\.string\(\), …\)/u, z.record(z.string(), z.string())],
    ["set", z.set(z.string()), /z\.array\(…\)/u, z.array(z.string())],
    ["undefined", z.undefined(), /\.optional\(\)/u, z.string().optional()],
    ["nan", z.nan(), /z\.number\(\)/u, z.number()],
    ["symbol", z.symbol(), /z\.enum\(\[…\]\)/u, z.enum(["a"])],
    ["custom", z.custom(() => true), /z\.string\(\)\.refine\(…\)/u, z.string().refine(() => true)]
  ])("%s", (_, type, advice, instead) => {
    expect(String(refusal(() => schemaOf(z.object({ a: type }))))).toMatch(advice)
    expect(schemaOf(z.object({ a: instead })).type).toBe("object")
  })
})
