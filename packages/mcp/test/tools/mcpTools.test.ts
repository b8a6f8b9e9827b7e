import { expect, test } from "vitest"
import { toolsOf } from "../../src/tools/mcpTools.ts"

test("MCPT1 a fault in the schema of a tool of a server is left out, and the rest of the schema stays", async () => {
  const properties = {
    when: { type: "datetime", description: "The time" },
    to: { anyOf: [{ $ref: "#/$defs/Person" }, { type: "string" }] },
    count: { type: "integer" }
  }
  const inputSchema = { type: "object" as const, properties, required: ["when"] }
  const listed = [
    { name: "remind", inputSchema },
    { name: "list", inputSchema: { type: "object" as const } }
  ]
  const [remind, list] = toolsOf(listed, { server: "s", prefix: "" }, async () => ({
    type: "result",
    result: { content: [] }
  }))
  expect(remind?.schema).toEqual({
    ...inputSchema,
    properties: { ...properties, when: { description: "The time" }, to: { anyOf: [{}, { type: "string" }] } }
  })
  expect(properties.when.type).toBe("datetime")
  expect(await remind?.parse({ when: "now", to: { name: "Ada" }, count: 2 })).toMatchObject({ valid: true })
  expect(await remind?.parse({ when: "now", count: "two" })).toMatchObject({ valid: false })
  expect(list?.schema).toEqual({ type: "object" })
})

test("the tools of a deferred server are in a group with its name, except those that the host wants at once", () => {
  const listed = ["search", "star"].map((name) => ({ name, inputSchema: { type: "object" as const } }))
  const about = {
    server: "github",
    prefix: "",
    deferred: true,
    tool: ({ name }: { readonly name: string }) => (name === "search" ? { deferred: false } : undefined)
  }
  const tools = toolsOf(listed, about, async () => ({ type: "result", result: { content: [] } }))
  expect(tools.map(({ name, deferred }) => [name, deferred])).toEqual([
    ["search", undefined],
    ["star", { group: "github" }]
  ])
})
