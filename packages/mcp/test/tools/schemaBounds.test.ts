import { expect, test } from "vitest"
import { boundedSchema, boundedText } from "../../src/tools/schemaBounds.ts"
import { toolsOf } from "../../src/tools/mcpTools.ts"
import { call } from "../double/call.ts"

const nested = (levels: number): Record<string, unknown> => {
  let schema: Record<string, unknown> = { type: "string" }
  for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } }
  return schema
}

test("MCPB1. a deep schema accepts any value below its bound, and a large one is that of any object", () => {
  expect(boundedSchema(nested(3), { maxSchemaDepth: 4 })).toEqual({
    type: "object",
    properties: { a: { type: "object", properties: { a: {} } } }
  })
  expect(boundedSchema(nested(20_000), undefined)).toMatchObject({ type: "object" })
  const wide = {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 29_999 }, (_, at) => [`p${at}`, {}]))
  }
  expect(Object.keys(boundedSchema(wide, undefined))).toEqual(["type"])
  expect(boundedText("x".repeat(20), { maxTextCharacters: 3 })).toBe("xxx…")
})

test("MCPB1. a pattern and a circle of references do not hold the program", async () => {
  const properties = { text: { type: "string", pattern: "^(a+)+$" }, tree: { $ref: "#/$defs/Tree" } }
  const inputSchema = {
    type: "object" as const,
    properties,
    $defs: { Tree: { anyOf: [{ $ref: "#/$defs/Tree" }, { $ref: "#/$defs/Tree" }] } }
  }
  const [tool] = toolsOf([{ name: "t", inputSchema }], { server: "s" }, async () => ({
    type: "result",
    result: { content: [] }
  }))
  expect(await tool?.parse({ text: `${"a".repeat(50_000)}b` })).toMatchObject({ valid: false })
  expect(await tool?.parse({ tree: {} })).toMatchObject({ valid: false })
})

test("MCPB1. the number of tools is bounded, and a name that is listed twice is one tool", () => {
  const inputSchema = { type: "object" as const }
  const listed = ["a", "b", "a", "c"].map((name) => ({ name, inputSchema }))
  const tools = toolsOf(listed, { server: "s", bounds: { maxTools: 2 } }, async () => ({
    type: "result",
    result: { content: [] }
  }))
  expect(tools.map(({ name }) => name)).toEqual(["a", "b"])
})

test("MCPT3. a structured result that does not fit the output schema is a failure", async () => {
  const outputSchema = { type: "object" as const, properties: { sum: { type: "number" } }, required: ["sum"] }
  const listed = [{ name: "add", inputSchema: { type: "object" as const }, outputSchema }]
  const results = [{ sum: 3 }, { sum: "three" }, undefined]
  const tools = toolsOf(listed, { server: "s" }, async () => ({
    type: "result",
    result: { content: [], structuredContent: results.shift() }
  }))
  expect(await call({ tools }, "add")).toMatchObject({ type: "ok", value: { sum: 3 } })
  expect(await call({ tools }, "add")).toMatchObject({ type: "error" })
  expect(await call({ tools }, "add")).toMatchObject({ type: "error" })
})
