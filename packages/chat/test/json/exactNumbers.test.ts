import { describe, expect, test } from "vitest"
import * as z from "zod"
import { Chat, Engine, Fake, tool, user } from "../../src/index.ts"
import { ToolCall } from "../../src/messages.ts"
import { withBigints } from "../../src/json/index.ts"
import type { Parameters } from "../../src/tool/toolContract.ts"

/** The arguments that the handler got, and the result of the call. */
const run = async (parameters: Parameters, rawArguments: string) => {
  const seen: Array<unknown> = []
  const dm = tool({
    name: "dm",
    parameters,
    execute: (args) => {
      seen.push(args)
      return "ok"
    }
  })
  const call = { toolCall: { id: "c1", name: "dm", rawArguments } }
  const adapter = Fake.make({
    scripts: [
      [call, { finish: "tool_calls" }],
      [{ text: "done" }, { finish: "stop" }]
    ]
  })
  const { steps, thread } = await Chat.run(Engine.make({ adapter, tools: [dm] }), [user("go")])
  return { seen, result: steps[0]?.toolResults[0], call: steps[0]?.response.toolCalls[0], thread }
}

const idOf = (type: unknown): Parameters => ({ type: "object", properties: { id: { type } } })
const large = '{"id": 1234567890123456789}'

describe("NUM1 an integer beyond 2^53 reaches the handler unchanged, or the call is invalid", () => {
  test.each<readonly [schema: string, parameters: Parameters, arguments_: unknown]>([
    ["an integer", idOf("integer"), { id: 1234567890123456789n }],
    ["a number", idOf("number"), { id: 1234567890123456789n }],
    ["without a type", {}, { id: 1234567890123456789n }],
    ["text by zod", z.object({ id: z.coerce.string() }), { id: "1234567890123456789" }],
    ["text", idOf("string"), undefined],
    ["a number by zod", z.object({ id: z.number() }), undefined]
  ])("for the schema of %s", async (_, parameters, expected) => {
    const { seen, result } = await run(parameters, large)
    expect(seen).toEqual(expected === undefined ? [] : [expected])
    expect(result?.outcome).toBe(expected === undefined ? "invalid" : "completed")
  })

  test("the stored call is plain JSON, and has the text of the model", async () => {
    const { call, thread } = await run({}, large)
    expect(call).toMatchObject({ arguments: { id: 1234567890123456800 }, rawArguments: large })
    expect(() => JSON.stringify(thread)).not.toThrow()
  })

  test("at any depth, and only where the number is too large", async () => {
    const text =
      '{"a": [{"b": -9007199254740993}, 9007199254740991, 1234567890123456.5, "1234567890123456789"], "c": 1e30}'
    const { seen } = await run({}, text)
    expect(seen).toEqual([
      { a: [{ b: -9007199254740993n }, 9007199254740991, 1234567890123456.5, "1234567890123456789"], c: 1e30 }
    ])
  })
})

test.each(["1e400", "-1e400", `1${"0".repeat(309)}`, `1${"0".repeat(400)}.5`])(
  "NUM1 a call with a number that is infinite for JavaScript is invalid, and its text is kept (%#)",
  async (number) => {
    const rawArguments = `{"list": [{"id": ${number}}]}`
    const { seen, result, call } = await run({}, rawArguments)
    expect(seen).toEqual([])
    expect(result).toMatchObject({ outcome: "invalid" })
    expect(call).toMatchObject({ arguments: null, rawArguments })
    expect(call?.problem).toContain("send it as text")
  }
)

test("NUM1 when arguments were changed after the model wrote them, the change counts", () => {
  const call = {
    arguments: { id: 7, other: 1234567890123456800 },
    rawArguments: '{"id": 1234567890123456789, "other": 1234567890123456789}'
  }
  expect(withBigints(call.arguments, call.rawArguments)).toEqual({ id: 7, other: 1234567890123456789n })
})

test("NUM1 the arguments that are written again have the digits of the model", () => {
  const call = { arguments: ToolCall.parseArguments(large), rawArguments: large }
  expect(JSON.stringify(ToolCall.writtenArguments(call))).toBe('{"id":1234567890123456789}')
})
