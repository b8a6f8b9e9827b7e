import { describe, expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Events from "../../src/events/Event.ts"
import type { Event } from "../../src/events/Event.ts"
import type { FinishReason } from "../../src/model/Response.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import type { Thread } from "../../src/model/Thread.ts"

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

  test("reasoning adds up for the view, and is no text", () => {
    const collector = new StreamCollector()
    for (const [id, said] of [
      ["0", "so "],
      ["0", "then"],
      ["1", "so"]
    ] as const) {
      collector.apply({ type: "reasoning_delta", id, delta: said })
    }
    expect([collector.reasoning, collector.text]).toEqual(["so then\n\nso", ""])
  })

  test("the version of the events is that of their last tag; an event of a later version changes nothing", () => {
    expect(Events.Event.version).toBe(5)
    expect(Events.tags).toHaveLength(20)
    expect(Events.tags).toContain("reasoning_delta")
    const later = { type: "tag_of_a_later_version", id: "0", delta: "x" }
    expect(fold(text("a"), later, finish("stop"))).toEqual(fold(text("a"), finish("stop")))
  })

  test("an empty fold is an empty response", () => {
    expect(fold()).toEqual({ outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} })
  })

  test("COLL1 of a usage what is no finite number is left out", () => {
    const usage = {
      inputTokens: Number.NaN,
      outputTokens: "7",
      totalTokens: 3,
      totalCost: 1n,
      cachedInputTokens: Infinity
    }
    expect(fold(finish("stop", { usage })).usage).toEqual({ totalTokens: 3 })
    expect(fold(finish("stop", { usage: { inputTokens: 1 } })).usage).toEqual({ inputTokens: 1 })
    const raising = {
      get inputTokens(): never {
        throw new Error("read")
      }
    }
    expect(fold(finish("stop", { usage: raising })).usage).toEqual({})
  })

  test("COLL1 a call's metadata that are no object are left out", () => {
    const [odd] = fold({ ...completed("c0", {}, "{}"), metadata: 7 }).toolCalls
    expect(odd).toEqual({ id: "c0", name: "t", arguments: {}, rawArguments: "{}" })
  })

  test("COLL3 of two calls completed under one id the last counts", () => {
    const { toolCalls } = fold(completed("c0", { n: 1 }, '{"n":1}'), completed("c0", { n: 2 }, '{"n":2}'))
    expect(toolCalls).toEqual([{ id: "c0", name: "t", arguments: { n: 2 }, rawArguments: '{"n":2}' }])
  })

  test("COLL1, 24 nothing that is said throws, and what is unknown or malformed changes nothing", () => {
    const malformed = [
      ...Events.tags.map((type) => ({ type })).filter(({ type }) => type !== "error"),
      { type: "nonsense" },
      { type: "text_delta", delta: 7 },
      { type: "reasoning_delta", delta: 7 },
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

  test("events of tools change nothing of the response", () => {
    const others = ["tool_execution_started", "tool_execution_completed", "tool_result_encoded", "tool_halt"]
    expect(fold(text("a"), ...others.map((type) => ({ type, id: "c0", content: "x" }))).outputText).toBe("a")
  })
})

describe("folding a step or a chat", () => {
  const thread: Thread = { messages: [{ role: "user", content: "hi" }] }
  const response = (outputText: string, finishReason: FinishReason = "stop") => ({
    outputText,
    finishReason,
    toolCalls: [],
    usage: {},
    metadata: {}
  })
  const stepCompleted = (said: string, more: object = {}) => ({
    type: "step_completed",
    response: response(said),
    thread: { messages: [...thread.messages, { role: "assistant", content: said }] },
    mode: "auto",
    manualToolCalls: [],
    ...more
  })
  const encoded = (id: string) => ({ type: "tool_result_encoded", id, content: `result ${id}` })
  const halted = (toolCallId: string, reason: string) => ({
    type: "tool_halt",
    toolCallId,
    reason,
    result: 1,
    content: `halted ${toolCallId}`
  })
  const asked = (toolCallId: string) => ({
    type: "ask_user_requested",
    toolCallId,
    toolName: "t",
    question: "which?",
    options: {}
  })
  const collect = (...events: ReadonlyArray<unknown>) => {
    const collector = new StreamCollector(thread)
    for (const event of events) collector.apply(event as Event)
    return collector
  }

  test("a running step has the tool messages so far, and is done when a tool ends the loop", () => {
    const running = collect(finish("tool_calls"), encoded("a"), encoded("b"))
    expect(running.toStepResult()).toMatchObject({
      thread,
      done: false,
      toolResults: [{ toolCallId: "a", content: "result a" }, { toolCallId: "b" }]
    })
    running.apply(halted("c", "enough") as Event)
    expect(running.toStepResult()).toMatchObject({ done: true, halt: { type: "halt", reason: "enough", result: 1 } })
  })

  test("LOOP1, D5 of several halts the first that was seen counts, and each call has its message", () => {
    const collector = collect(asked("a"), halted("b", "enough"), halted("c", "tool_error"))
    expect(collector.halt).toEqual({ type: "question", toolCallId: "a", question: "which?", options: {} })
    expect(collector.toolResults.map(({ content }) => content)).toEqual([
      "<awaiting user response>",
      "halted b",
      "halted c"
    ])
    expect(collect(halted("c", "tool_error")).halt).toEqual({ type: "tool_error", toolCallId: "c", error: 1 })
    const wordless = { ...halted("d", "enough"), content: undefined, result: { used: 1 } }
    expect(collect(wordless).toolResults).toMatchObject([{ toolCallId: "d", content: '{"used":1}' }])
  })

  test("LOOP2, COLL4 a finished step takes its tool messages and its halt; the next begins without them", () => {
    const usage = { type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: 3 } } }
    const collector = collect(text("one"), usage, encoded("a"), halted("b", "enough"), stepCompleted("one"))
    expect(collector.steps).toMatchObject([
      { response: { outputText: "one" }, done: true, halt: { reason: "enough" }, toolResults: [{}, {}] }
    ])
    expect(collector).toMatchObject({ text: "", toolResults: [], halt: undefined })
    expect(collector.thread?.messages).toHaveLength(2)
    expect(collector.toResponse()).toMatchObject({ outputText: "", finishReason: null, usage: { inputTokens: 3 } })
  })

  test("LOOP1, LOOP2, D5 the end of a step has the last word: its halt, and its results in call order", () => {
    const result = (toolCallId: string) => ({ role: "tool", toolCallId, content: `halted ${toolCallId}` })
    const end = stepCompleted("", {
      response: response("", "tool_calls"),
      thread: { messages: [{ role: "assistant", content: "" }, result("a"), result("b")] },
      halt: { type: "halt", toolCallId: "a", reason: "enough", result: 1 }
    })
    const [step] = collect(halted("b", "later"), halted("a", "enough"), end).steps
    expect(step).toMatchObject({ done: true, halt: { toolCallId: "a" }, toolResults: [result("a"), result("b")] })
  })

  test("a finished step is manual when its calls were left to the caller", () => {
    const manual = { mode: "manual", response: response("", "tool_calls") }
    expect(collect(stepCompleted("", manual)).steps).toMatchObject([{ mode: "manual", done: false }])
    expect(collect(stepCompleted("x", { mode: "manual" })).steps).toMatchObject([{ mode: "auto", done: true }])
  })

  test("a chat's own result counts, the last one said", () => {
    const result = (haltedReason: string) => ({ type: "chat_completed", result: { haltedReason } })
    expect(collect(result("completed"), result("max_turns")).toChatResult()).toEqual({ haltedReason: "max_turns" })
  })

  test("a chat that was left is cancelled, with what it had: finished steps, else the unfinished reply", () => {
    expect(collect(text("par")).toChatResult()).toMatchObject({
      haltedReason: "cancelled",
      finalResponse: { outputText: "par" },
      steps: []
    })
    expect(collect(stepCompleted("one"), text("par")).toChatResult()).toMatchObject({
      finalResponse: { outputText: "one" },
      steps: [{ response: { outputText: "one" } }]
    })
  })

  test("a chat that was left after an error has failed with it", () => {
    const error = new AdapterError("timeout")
    expect(collect({ type: "error", error }, stepCompleted("one")).toChatResult()).toMatchObject({
      haltedReason: "error",
      metadata: { error }
    })
  })

  test("without a thread there is a response, and no result of a step or a chat", () => {
    expect(() => new StreamCollector().toStepResult()).toThrow(/requires a thread.*toResponse/)
    expect(() => new StreamCollector().toChatResult()).toThrow(/requires a thread/)
  })

  test("COLL1 what is malformed changes nothing here either", () => {
    const collector = collect(
      null,
      "not an event",
      { type: "tool_halt", reason: 7 },
      { type: "ask_user_requested", toolCallId: "a" },
      { type: "step_completed", response: {} },
      { type: "chat_completed" }
    )
    expect(collector).toMatchObject({ steps: [], toolResults: [], halt: undefined, chatResult: undefined, thread })
  })
})
