import { describe, expect, test } from "vitest"
import { AdapterError } from "../src/ChatError.ts"
import * as Events from "../src/Event.ts"
import type { Event } from "../src/Event.ts"
import { StreamCollector } from "../src/StreamCollector.ts"

const fold = (...events: ReadonlyArray<unknown>) => {
  const collector = new StreamCollector()
  for (const event of events) collector.apply(event as Event)
  return collector.toResponse()
}

const text = (delta: string) => ({ type: "text_delta", id: null, delta })
const finish = (finishReason: string | null, more: object = {}) => ({
  type: "message_completed",
  message: { role: "assistant", content: "" },
  finishReason,
  ...more
})
const delta = (id: string, argumentsDelta: string) => ({ type: "tool_call_delta", id, argumentsDelta })
const completed = (id: string, args: object | null, rawArguments: string, name = "t") => ({
  type: "tool_call_completed",
  id,
  name,
  arguments: args,
  rawArguments
})

describe("folding events", () => {
  test("deltas add up, and a completed text takes their place", () => {
    expect(fold(text("Hel"), text("lo")).outputText).toBe("Hello")
    expect(fold(text("Hel"), { type: "text_completed", id: null, text: "Hello!" }).outputText).toBe("Hello!")
  })

  test("an empty fold is an empty response", () => {
    expect(fold()).toEqual({ outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} })
  })

  test("COLL1, 24 nothing that is said throws, and what is unknown or malformed changes nothing", () => {
    const malformed = [
      ...Events.tags.map((type) => ({ type })).filter(({ type }) => type !== "error"),
      { type: "nonsense" },
      { type: "text_delta", delta: 7 },
      { type: "tool_call_started", id: 7, name: "t" },
      { type: "tool_call_delta", argumentsDelta: "x" },
      completed("c0", [], "[]"),
      { ...completed("c0", {}, "{}"), id: undefined },
      { ...completed("c0", {}, "{}"), name: 7 },
      { ...completed("c0", {}, "{}"), rawArguments: undefined },
      { type: "raw_chunk", chunk: null },
      { type: "raw_chunk", chunk: { type: "usage" } },
      { type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: "many" } } },
      { type: "message_started", metadata: 7 }
    ]
    expect(fold(...malformed)).toEqual({ outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} })
  })

  test.each([
    [[{ type: "error", error: "x" }, finish("stop")]],
    [[finish("stop"), { type: "error", error: "x" }]],
    [[text("p"), { type: "error", error: "x" }, { type: "error", error: "y" }, finish("tool_calls")]]
  ])("COLL2, 26, D13 once an error was seen the finish reason is `error`, and the first error stays", (events) => {
    expect(fold(...events)).toMatchObject({ finishReason: "error", metadata: { error: "x" } })
  })

  test("COLL2 a failure without an event counts as one", () => {
    const collector = new StreamCollector()
    collector.apply(finish("stop") as Event)
    collector.fail(new AdapterError("timeout"))
    expect(collector.failed).toBe(true)
    expect(collector.toResponse().finishReason).toBe("error")
  })

  test("COLL3, 25, D14 deltas alone are parsed when the call closes; what is no JSON object is null", () => {
    expect(fold(delta("c1", '{"a":'), delta("c1", "1}")).toolCalls).toEqual([
      { id: "c1", name: "", arguments: { a: 1 }, rawArguments: '{"a":1}' }
    ])
    expect(fold(delta("c1", '{"a":')).toolCalls).toMatchObject([{ arguments: null, rawArguments: '{"a":' }])
    expect(fold(delta("c1", "[1]")).toolCalls).toMatchObject([{ arguments: null }])
    expect(fold({ type: "tool_call_started", id: "c1", name: "t" }).toolCalls).toMatchObject([
      { name: "t", arguments: {} }
    ])
  })

  test("a completed call overrides its deltas, and the last completion of an id counts", () => {
    expect(fold(delta("c1", '{"a":1'), completed("c1", { a: 2 }, '{"a":2}')).toolCalls).toMatchObject([
      { arguments: { a: 2 } }
    ])
    expect(fold(completed("c1", { a: 1 }, "{}"), completed("c1", { a: 2 }, "{}")).toolCalls).toMatchObject([
      { arguments: { a: 2 } }
    ])
    expect(fold(completed("c1", null, "{", "t")).toolCalls).toMatchObject([{ name: "t", arguments: null }])
  })

  test("calls keep the order in which they began", () => {
    const started = (id: string) => ({ type: "tool_call_started", id, name: "t" })
    const response = fold(started("b"), started("a"), completed("a", {}, "{}"), completed("b", {}, "{}"))
    expect(response.toolCalls.map(({ id }) => id)).toEqual(["b", "a"])
  })

  test("a finish reason that is not said keeps the one before", () => {
    expect(fold(finish("length"), finish(null)).finishReason).toBe("length")
  })

  test("17, 23 usage comes with a chunk or the end; the last one counts", () => {
    const chunk = { type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: 3 } } }
    expect(fold(chunk).usage).toEqual({ inputTokens: 3 })
    expect(fold(chunk, finish("stop", { usage: { inputTokens: 12 } })).usage).toEqual({ inputTokens: 12 })
  })

  test("D22 id, model, raw finish reason and request id are carried", () => {
    const collector = new StreamCollector()
    const started = { type: "message_started", message: {}, metadata: { id: "m1", model: "gpt", other: 1 } }
    for (const event of [started, finish("stop", { rawFinishReason: "end_turn" })]) collector.apply(event as Event)
    expect(collector.toResponse("r1")).toMatchObject({
      id: "m1",
      model: "gpt",
      requestId: "r1",
      rawFinishReason: "end_turn",
      metadata: { other: 1 }
    })
  })

  test("events of tools, steps and chats change nothing", () => {
    const others = [
      "tool_execution_started",
      "tool_execution_completed",
      "tool_result_encoded",
      "tool_halt",
      "step_completed"
    ]
    expect(fold(text("a"), ...others.map((type) => ({ type, id: "c0", content: "x" }))).outputText).toBe("a")
  })
})
