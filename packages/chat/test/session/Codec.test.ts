import { expect, test } from "vitest"
import { AdapterError, StreamError, ToolError, ValidationError } from "../../src/errors/ChatError.ts"
import * as Codec from "../../src/session/Codec.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { error, halt, isHandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { assistant, user } from "../../src/model/Message.ts"
import type { Thread } from "../../src/model/Thread.ts"
import { make } from "../../src/tool/Tool.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { dateOf } from "../double/arbitrary.ts"

const threadWith = (x: unknown): Thread => ({ messages: [user("hi")], metadata: { x } })

const through = (x: unknown): unknown => Codec.decode("Thread", Codec.encode("Thread", threadWith(x))).metadata?.["x"]

const findingsOf = (call: () => unknown): unknown => {
  try {
    call()
  } catch (thrown) {
    if (thrown instanceof ValidationError)
      return { reason: thrown.reason, found: thrown.errors.map(({ field, reason }) => `${field.join(".")} ${reason}`) }
    throw thrown
  }
  return "nothing was thrown"
}

const unencodable = (...found: ReadonlyArray<string>) => ({ reason: "unencodable", found })
const undecodable = (...found: ReadonlyArray<string>) => ({ reason: "undecodable", found })

test("the form says its type and its version, and leaves out what is not there", () => {
  expect(Codec.toJson("Message", { role: "assistant", content: "hi", name: undefined })).toStrictEqual({
    type: "Message",
    version: 2,
    data: { role: "assistant", content: "hi" }
  })
})

test.each([
  ["a bigint", 12345678901234567890n],
  ["what is no number", Number.NaN],
  ["an infinity", Number.NEGATIVE_INFINITY],
  ["minus zero", -0],
  ["a date", dateOf("2020-02-29T12:00:00.123Z")],
  ["bytes", new Uint8Array([0, 1, 255])],
  ["undefined in a list", [1, undefined, 2]],
  ["an object that looks like a form of ours", { $date: "never" }],
  ["a quoted object", { $object: { $object: 1 } }],
  ["an object with a key like ours and another", { $date: 1, b: 2 }],
  ["a reference of a JSON Schema", { $ref: "#/$defs/x" }],
  ["a key that is a prototype's", JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}')],
  ["half a surrogate pair", "\ud800"],
  ["an empty key", { "": null }]
])("CODEC1 %s in an open map reads back equal", (_, value) => {
  expect(through(value)).toStrictEqual(value)
})

test("CODEC1 a JSON Schema is written as it is", () => {
  expect(Codec.encode("Thread", threadWith({ $ref: "#/$defs/x" }))).toContain('{"$ref":"#/$defs/x"}')
})

test("CODEC1 an error keeps its class, reason, fields and causes, wherever it is", () => {
  const failure = new StreamError("malformed_event", {
    eventIndex: 3,
    provider: "p",
    cause: new AdapterError("rate_limited", {
      provider: "p",
      status: 429,
      retryAfterMs: 500,
      requestId: "r",
      metadata: { at: dateOf(0) },
      cause: new RangeError("far", { cause: "thrown text" })
    })
  })
  for (const back of [
    through([failure]) as Array<unknown>,
    [Codec.decode("StreamError", Codec.encode("StreamError", failure))]
  ]) {
    expect(back).toStrictEqual([failure])
    expect(back[0]).toBeInstanceOf(StreamError)
  }
})

test("CODEC1 an error of another library keeps its name, an aggregate its errors", () => {
  class APICallError extends Error {
    override readonly name = "APICallError"
  }
  const foreign = through(new APICallError("no route", { cause: new AggregateError([new TypeError("a"), 1], "all") }))
  expect(foreign).toBeInstanceOf(Error)
  expect(foreign).toMatchObject({ name: "APICallError", message: "no route" })
  expect((foreign as Error).cause).toStrictEqual(new AggregateError([new TypeError("a"), 1], "all"))
})

test("an error's stack is not encoded, and a decoded one claims no place", () => {
  const failure = new ToolError("handler_raised", { cause: new Error("kaboom") })
  expect(Codec.encode("ToolError", failure)).not.toContain(".ts")
  expect(Codec.decode("ToolError", Codec.encode("ToolError", failure)).stack).toBe(`ToolError: ${failure.message}`)
})

test("CODEC1 an outcome reads back as an outcome, a tool's own look-alike as what it is", () => {
  const event: Event = {
    type: "tool_execution_completed",
    id: "c",
    name: "t",
    result: ok({ type: "ok", value: 1 }),
    outcome: "completed"
  }
  const back = Codec.decode("Event", Codec.encode("Event", event))
  expect(back).toStrictEqual(event)
  if (back.type !== "tool_execution_completed" || back.result.type !== "ok") throw new Error("another event")
  expect(isHandlerResult(back.result)).toBe(true)
  expect(isHandlerResult(back.result.value)).toBe(false)
  expect(isHandlerResult(through(halt("done", [error("no")])))).toBe(true)
})

test("CODEC1 an unknown field is kept", () => {
  const text = JSON.stringify({
    type: "Event",
    version: 1,
    data: { type: "text_delta", id: null, delta: "a", logprobs: [{ $date: "1970-01-01T00:00:00.000Z" }] }
  })
  expect(Codec.decode("Event", text)).toStrictEqual({
    type: "text_delta",
    id: null,
    delta: "a",
    logprobs: [dateOf(0)]
  })
})

const circular: Record<string, unknown> = {}
circular["self"] = { deeper: circular }

const noDate = dateOf(0)
noDate.setTime(Number.NaN)

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

test.each([
  ["a function", { f: () => 1 }, "metadata.x.f function"],
  ["a symbol", [1, Symbol("s")], "metadata.x.1 symbol"],
  ["a cycle", circular, "metadata.x.self.deeper circular"],
  ["an instance of a class", [new Map()], "metadata.x.0 not_plain"],
  ["an array with a field", Object.assign([1], { x: 2 }), "metadata.x named_elements"],
  ["an array with a symbol", Object.assign([1], { [Symbol("s")]: 2 }), "metadata.x named_elements"],
  ["a date that is none", noDate, "metadata.x invalid_date"],
  ["a symbol as a key", { [Symbol("s")]: 1 }, "metadata.x symbol_key"],
  [
    "an accessor that throws",
    {
      get trap(): never {
        throw new Error("no")
      }
    },
    "metadata.x unreadable"
  ],
  ["what is too deep", nested(500), `metadata.x${".0".repeat(498)} too_deep`]
])("CODEC2 %s is refused by its path, or described on request", (_, value, finding) => {
  expect(findingsOf(() => Codec.encode("Thread", threadWith(value)))).toEqual(unencodable(finding))
  const text = Codec.encode("Thread", threadWith(value), { unencodable: "describe" })
  expect(Codec.decode("Thread", text).messages).toHaveLength(1)
})

test("CODEC2 every path is named", () => {
  expect(findingsOf(() => Codec.encode("Thread", threadWith([() => 1, 1, Symbol("s")])))).toEqual(
    unencodable("metadata.x.0 function", "metadata.x.2 symbol")
  )
})

test("what is shared, but no cycle, is written each time", () => {
  const shared = { a: 1 }
  expect(through([shared, shared])).toEqual([shared, shared])
})

test("CODEC2 an error is always encoded: what of its cause has no form is described", () => {
  const failure = new ToolError("invalid_return", { cause: { a: [() => 1, circular] }, metadata: { map: new Map() } })
  expect(Codec.decode("ToolError", Codec.encode("ToolError", failure))).toMatchObject({
    cause: { a: ["[function]", { self: { deeper: "[circular]" } }] },
    metadata: { map: "[not plain]" }
  })
  const own: Error & { cause?: unknown } = new Error("round")
  own.cause = own
  expect(through(own)).toMatchObject({ message: "round", cause: "[circular]" })
})

test("CODEC2 an ill-made error is encoded as any other error", () => {
  const failure = new AdapterError("timeout", { status: "429" as never })
  expect(through(failure)).toMatchObject({ name: "AdapterError", message: failure.message })
})

test("CODEC2 what does not fit its type is not written", () => {
  expect(findingsOf(() => Codec.encode("Message", { role: "bogus", content: 1 } as never))).toEqual(
    unencodable("role unknown_value")
  )
  expect(findingsOf(() => Codec.encode("ToolError", new Error("other") as never))).toEqual(unencodable(" custom"))
  expect(findingsOf(() => Codec.encode("Tool", null as never))).toMatchObject({ reason: "unencodable" })
  expect(findingsOf(() => Codec.encode("Nothing" as never, {} as never))).toEqual(unencodable("type unknown"))
})

const tagged = (type: string, data: unknown) => ({ type, version: 1, data })
const message = { role: "user", content: "hi" }

test("CODEC3 a value of an earlier version is decoded", () => {
  for (const version of [1, 2]) {
    expect(Codec.fromJson("Message", { type: "Message", version, data: message })).toEqual(message)
  }
})

test.each([
  ["no type", { role: "user" }, "type missing"],
  ["a list", [1, 2, 3], "type missing"],
  ["nothing", null, "type missing"],
  ["an unknown type", tagged("Massage", message), "type unknown"],
  ["a type that is a prototype's", tagged("Constructor", {}), "type unknown"],
  ["no version", { type: "Message", data: message }, "version missing"],
  ["another version", { type: "Message", version: 3, data: message }, "version unknown"],
  ["no data", { type: "Message", version: 1 }, "data missing"],
  ["data that is no object", tagged("Message", 7), "data invalid_type"],
  [
    "an unknown role",
    tagged("Thread", { messages: [message, { role: "sage", content: "" }] }),
    "data.messages.1.role unknown_value"
  ],
  ["an unknown event", tagged("Event", { type: "text_deltas" }), "data.type unknown_value"],
  [
    "an unknown reason",
    tagged("ToolError", { type: "ToolError", reason: "fun", message: "" }),
    "data.reason unknown_value"
  ],
  ["the data of another error", tagged("ToolError", { type: "Error", name: "x", message: "" }), "data custom"],
  [
    "an unknown error inside",
    tagged("Thread", { messages: [], metadata: { error: { $error: { type: "NewError" } } } }),
    "data.metadata.error.$error.type unknown_value"
  ],
  ["an unknown outcome", tagged("HandlerResult", { $result: { type: "maybe" } }), "data.$result.type unknown_value"],
  [
    "bytes that are none",
    tagged("Thread", { messages: [], metadata: { b: { $bytes: "?" } } }),
    "data.metadata.b.$bytes malformed"
  ],
  ...["5", "2020-02-31T00:00:00.000Z", "2020-02-29T00:00:00Z"].map((text): [string, unknown, string] => [
    `the date ${text}`,
    tagged("Thread", { messages: [], metadata: { b: [{ $date: text }] } }),
    "data.metadata.b.0.$date malformed"
  ]),
  [
    "a date that is none",
    tagged("Thread", { messages: [], metadata: { b: [{ $date: "soon" }] } }),
    "data.metadata.b.0.$date malformed"
  ],
  [
    "a number in words",
    tagged("Thread", { messages: [], metadata: { b: { $number: "one" } } }),
    "data.metadata.b.$number malformed"
  ],
  [
    "a bigint in words",
    tagged("Thread", { messages: [], metadata: { b: { $bigint: "one" } } }),
    "data.metadata.b.$bigint malformed"
  ],
  ["a tool's name that is none", tagged("Tool", { name: "a b", description: "", schema: {} }), "data.name custom"]
])("CODEC3 %s is refused", (_, json, finding) => {
  expect(findingsOf(() => Codec.decodeAny(JSON.stringify(json)))).toEqual(undecodable(finding))
})

test("CODEC3 text that is no JSON is refused", () => {
  expect(findingsOf(() => Codec.decode("Message", "not json"))).toEqual(undecodable("json malformed"))
})

test("CODEC3 what nests without end is refused", () => {
  const text = `{"type":"Thread","version":1,"data":{"messages":[],"metadata":{"x":${"[".repeat(1e5)}${"]".repeat(1e5)}}}}`
  expect(findingsOf(() => Codec.decode("Thread", text))).toMatchObject({ reason: "undecodable" })
})

test("CODEC3 another type than the one expected is refused", () => {
  const text = Codec.encode("Message", user("hi"))
  expect(findingsOf(() => Codec.decode("Thread", text))).toEqual(undecodable("type unexpected"))
  expect(Codec.decodeAny(text)).toEqual({ type: "Message", value: user("hi") })
})

test("data without its type and version around it is read as what is expected, events too", () => {
  expect(Codec.fromJson("Message", { role: "user", content: "hi" })).toEqual(user("hi"))
  expect(Codec.fromJson("Event", { type: "text_delta", id: null, delta: "a" })).toMatchObject({ delta: "a" })
})

test("a tool's handler is given back by the tool's name; a tool that is not given is declared", () => {
  const here = tool({ name: "here", description: "d", execute: () => 1, timeoutMs: 5 })
  const gone = make({ name: "gone", manual: true, jsonSchema: { type: "object" }, handler: () => ok(1) })
  const text = Codec.encode("Engine", Engine.make({ tools: [here, gone], model: "m", params: { topP: 1 } }))
  const engine = Codec.decode("Engine", text, { tools: [here], adapter: Fake.make({ script: [] }) })
  expect(engine.tools[0]).toBe(here)
  expect(engine.tools[1]).toMatchObject({ name: "gone", manual: true, schema: { type: "object" }, handler: null })
  expect(engine).toMatchObject({ model: "m", params: { topP: 1 }, adapter: { name: "fake" } })
  expect(Codec.decode("Tool", Codec.encode("Tool", here))).toMatchObject({
    description: "d",
    timeoutMs: 5,
    handler: null
  })
})

test("the prices of an engine are not encoded, and are given back when it is decoded", () => {
  const prices = Engine.prices({ m: { input: 1, output: 1 } })
  const text = Codec.encode("Engine", Engine.make({ model: "m", prices }))
  expect(Codec.decode("Engine", text).prices).toBeUndefined()
  expect(Codec.decode("Engine", text, { prices }).prices).toBe(prices)
})

test("a tool that reads says so in its JSON; its key is a function, and stays here", () => {
  const reading = make({ name: "t", effect: "read", key: () => "a" })
  expect(JSON.parse(Codec.encode("Tool", reading))).toMatchObject({ data: { effect: "read" } })
  expect(Codec.decode("Tool", Codec.encode("Tool", reading))).toMatchObject({ effect: "read", key: undefined })
  expect(JSON.parse(Codec.encode("Tool", make({ name: "t" })))).not.toHaveProperty("data.effect")
})

test("a declared tool still checks its arguments by its schema", async () => {
  const declared = make({
    name: "t",
    parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
  })
  const back = Codec.decode("Tool", Codec.encode("Tool", declared))
  expect(await back.parse({ a: 1 })).toMatchObject({ valid: true })
  expect(await back.parse({ a: "x" })).toMatchObject({ valid: false })
})

test("a provider's own response format and tool choice pass", () => {
  const request = { messages: [user("hi")], tools: [], responseFormat: { custom: 1 }, toolChoice: { type: "any" } }
  expect(Codec.decode("Request", Codec.encode("Request", request as never))).toEqual(request)
})

test("a message keeps its calls", () => {
  const said = assistant("", [{ id: "c", name: "t", arguments: null, rawArguments: '{"a":' }])
  expect(Codec.decode("Message", Codec.encode("Message", said))).toEqual(said)
})

test("an unknown option is refused", () => {
  const text = Codec.encode("Message", user("hi"))
  const refused = { reason: "invalid_options", found: ["tool unknown_option"] }
  expect(findingsOf(() => Codec.decode("Message", text, { tool: [] } as never))).toEqual(refused)
  expect(findingsOf(() => Codec.encode("Message", user("hi"), { tool: [] } as never))).toEqual(refused)
})
