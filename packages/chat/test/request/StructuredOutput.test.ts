import { expect, test } from "vitest"
import * as z from "zod"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { FinishReason, Response } from "../../src/model/Response.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import { format, parse, partial } from "../../src/request/StructuredOutput.ts"

const City = z.object({ name: z.string(), size: z.number().optional() })

const response = (outputText: string, finishReason: FinishReason | null = "stop", error?: unknown): Response => ({
  outputText,
  finishReason,
  toolCalls: [],
  usage: {},
  metadata: error === undefined ? {} : { error }
})

test("a format is the JSON Schema of zod, of JSON Schema itself, or the one that is given", () => {
  const plain = { type: "object", properties: { name: { type: "string" } } }
  expect(format("city", City)).toMatchObject({ type: "json_schema", name: "city", schema: plain })
  expect(format("city", plain, { strict: true })).toEqual({
    type: "json_schema",
    name: "city",
    schema: plain,
    strict: true
  })
  const bare = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } } as const
  expect(() => format("city", bare)).toThrow("mine cannot produce JSON Schema")
  expect(format("city", bare, { jsonSchema: plain }).schema).toEqual(plain)
})

test("an answer is what the schema makes of its text", async () => {
  expect(await parse(response('{"name":"Oslo"}'), City)).toEqual({ name: "Oslo" })
  const upper = City.transform(({ name }) => name.toUpperCase())
  expect(await parse(response('{"name":"Oslo"}', null), upper)).toBe("OSLO")
  expect(await parse(response("[1]"), { type: "array", items: { type: "number" } })).toEqual([1])
})

test("an answer in a code fence is read, while it streams and when it is complete", async () => {
  const text = '```json\n{"name":"Oslo"}\n```'
  expect(await parse(response(text), City)).toEqual({ name: "Oslo" })
  const reader = partial(City)
  reader.push(text.slice(0, 18))
  expect(reader.value).toEqual({ name: "O" })
  reader.push(text.slice(18))
  expect(reader.value).toEqual({ name: "Oslo" })
})

test("an answer that is not complete, no JSON, or does not fit is a typed error that says where", async () => {
  const failed = new AdapterError("timeout")
  const bad: ReadonlyArray<readonly [Response, ReadonlyArray<string>]> = [
    [response('{"name":"Oslo"}', "length"), ["finishReason"]],
    [response("{", "error", failed), ["finishReason"]],
    [response("Oslo"), ["outputText"]],
    [response(""), ["outputText"]],
    [response('{"name":1,"size":"x"}'), ["name", "size"]],
    [response("null"), [""]]
  ]
  for (const [given, fields] of bad) {
    const error: unknown = await parse(given, City).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      _tag: "ValidationError",
      reason: "invalid_output",
      metadata: { text: given.outputText }
    })
    expect(
      (error as { errors: ReadonlyArray<{ field: ReadonlyArray<string> }> }).errors.map(({ field }) => field.join("."))
    ).toEqual(fields)
  }
  await expect(parse(response("{", "error", failed), City)).rejects.toMatchObject({ cause: failed })
})

const result = (haltedReason: string, finalResponse: Response | undefined, metadata = {}): ChatResult => ({
  thread: { messages: [] },
  finalResponse,
  steps: [],
  haltedReason,
  pendingToolCalls: [],
  metadata
})

test("the answer of a turn is that of its final response, if the turn is completed", async () => {
  expect(await parse(result("completed", response('{"name":"Oslo"}')), City)).toEqual({ name: "Oslo" })
  const halted = result("max_turns", response('{"name":"Oslo"}'))
  await expect(parse(halted, City)).rejects.toMatchObject({
    errors: [{ field: ["haltedReason"], reason: "the turn ended with max_turns" }],
    metadata: { text: '{"name":"Oslo"}', result: halted }
  })
  const failed = new AdapterError("timeout")
  await expect(parse(result("error", undefined, { error: failed }), City)).rejects.toMatchObject({
    cause: failed,
    metadata: { text: "" }
  })
  await expect(parse(result("completed", response("Oslo", "length")), City)).rejects.toMatchObject({
    errors: [{ field: ["finishReason"] }]
  })
})

test("an error of an answer has the whole response", async () => {
  const given = response('{"name":1}')
  const error: unknown = await parse(given, City).catch((thrown: unknown) => thrown)
  expect((error as { metadata: { response: unknown } }).metadata.response).toBe(given)
})

test("a partial answer has what has come so far", () => {
  const reader = partial(City)
  expect(reader.value).toBeUndefined()
  reader.push('{"name":"Os')
  expect(reader.value).toEqual({ name: "Os" })
  reader.push('lo","size":7')
  expect(reader.value).toEqual({ name: "Oslo" })
  reader.push("0}")
  expect(reader.value).toEqual({ name: "Oslo", size: 70 })
})
