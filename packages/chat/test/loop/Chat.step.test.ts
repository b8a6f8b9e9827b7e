import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { EngineError, ValidationError } from "../../src/errors/ChatError.ts"
import type { StepOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, handling, hi, only, readAll, says, tagsOf } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const engineOf = (script: Script, tools: ReadonlyArray<Tool> = [echo]) =>
  Engine.make({ adapter: check.fake({ script }), tools })

const stepOf = (script: Script, tools?: ReadonlyArray<Tool>, options?: StepOptions): Promise<StepResult> =>
  Chat.step(engineOf(script, tools), hi, options)

const eventsOf = async (
  script: Script,
  tools?: ReadonlyArray<Tool>,
  options?: StepOptions
): Promise<ReadonlyArray<Event>> => readAll(await Chat.streamStep(engineOf(script, tools), hi, options))

const manual = make({ name: "m", manual: true })
const callsBoth = calls(["echo", { x: 1 }], "m")

describe("a step", () => {
  test("76 a text is the thread's next message, and the step is done", async () => {
    const result = await stepOf(says("x"))
    expect(result).toMatchObject({
      done: true,
      toolResults: [],
      mode: "auto",
      manualToolCalls: [],
      truncatedToolCalls: []
    })
    expect(result.thread.messages).toEqual([
      ...hi,
      { role: "assistant", content: "x", metadata: { finish_reason: "stop" } }
    ])
    expect(result.halt).toBeUndefined()
  })

  test("77, D1 tool calls are run and answered, and the step is not done", async () => {
    const result = await stepOf(calls(["echo", { x: 1 }]))
    expect(result.done).toBe(false)
    expect(result.thread.messages.slice(1)).toMatchObject([
      { role: "assistant", toolCalls: [{ id: "c0", name: "echo" }], metadata: { finish_reason: "tool_calls" } },
      { role: "tool", toolCallId: "c0", content: '{"x":1}' }
    ])
    expect(result.toolResults).toEqual(result.thread.messages.slice(2))
  })

  test("78 the events of the adapter come first, then those of the tools, then the step's", async () => {
    expect(tagsOf(await eventsOf(calls("echo")))).toEqual([
      "message_started",
      "tool_call_started",
      "tool_call_completed",
      "message_completed",
      "tool_execution_started",
      "tool_execution_completed",
      "tool_result_encoded",
      "step_completed"
    ])
  })

  test("79 in manual mode nothing runs and the calls are left to the caller", async () => {
    let ran = 0
    const tools = [handling("echo", () => ok(++ran))]
    const result = await stepOf(calls("echo"), tools, { mode: "manual" })
    expect(result).toMatchObject({ mode: "manual", done: false, toolResults: [], manualToolCalls: [] })
    expect(result.response.toolCalls).toHaveLength(1)
    const events = await eventsOf(calls("echo"), tools, { mode: "manual" })
    expect(only(events, "step_completed").mode).toBe("manual")
    expect(tagsOf(events)).not.toContain("tool_execution_started")
    expect(ran).toBe(0)
  })

  test("the end of a step says the mode it ran in, its result whether calls were left to the caller", async () => {
    const said = [{ text: "done" }, { finish: "stop" }] as const
    expect(only(await eventsOf(said, [], { mode: "manual" }), "step_completed").mode).toBe("manual")
    expect((await stepOf(said, [], { mode: "manual" })).mode).toBe("auto")
  })

  test("80 of a mixed turn the automatic calls run and the manual ones are left", async () => {
    const result = await stepOf(callsBoth, [echo, manual])
    expect(result).toMatchObject({ done: false, mode: "auto", manualToolCalls: [{ id: "c1" }] })
    expect(result.toolResults.map(({ toolCallId }) => toolCallId)).toEqual(["c0"])
    const events = await eventsOf(callsBoth, [echo, manual])
    expect(tagsOf(events).filter((tag) => tag === "tool_execution_started")).toHaveLength(1)
    expect(only(events, "step_completed").manualToolCalls).toMatchObject([{ id: "c1" }])
  })

  test("81 a turn of manual calls runs nothing", async () => {
    const result = await stepOf(calls("m", "m"), [manual])
    expect(result).toMatchObject({ mode: "auto", done: false, toolResults: [] })
    expect(result.manualToolCalls.map(({ id }) => id)).toEqual(["c0", "c1"])
  })

  test("82 manual mode wins over manual tools", async () => {
    expect(await stepOf(callsBoth, [echo, manual], { mode: "manual" })).toMatchObject({
      mode: "manual",
      manualToolCalls: []
    })
  })

  test("84 an unknown tool rejects the collected form, and nothing ran", async () => {
    let ran = 0
    const running = stepOf(calls("echo", "ghost"), [handling("echo", () => ok(++ran))])
    await expect(running).rejects.toMatchObject({
      reason: "unknown_tool",
      metadata: { toolName: "ghost", toolCallId: "c1" }
    })
    expect(ran).toBe(0)
  })

  test("85, D4 streamed, an unknown tool is an error event, and every call is answered all the same", async () => {
    const events = await eventsOf(calls("echo", "ghost"))
    expect(tagsOf(events).slice(-3)).toEqual(["message_completed", "error", "step_completed"])
    expect(only(events, "error").error).toBeInstanceOf(EngineError)
    const tail = only(events, "step_completed").thread.messages.slice(-2)
    expect(tail.map((message) => (message.role === "tool" ? message.toolCallId : ""))).toEqual(["c0", "c1"])
    expect(tail[1]?.content).toContain("there is no tool ghost; the tools are echo")
  })

  test("D3 with onUnknownTool `continue` the model reads which tools there are, and nothing else is lost", async () => {
    const result = await stepOf(calls(["echo", { x: 1 }], "ghost"), [echo], { onUnknownTool: "continue" })
    expect(result.done).toBe(false)
    expect(result.toolResults.map(({ content }) => content)).toEqual([
      '{"x":1}',
      '{"error":"not_found: there is no tool ghost; the tools are echo"}'
    ])
  })

  test("86 the assistant's text is what the events said, not what the adapter's message says", async () => {
    const adapter: Adapter = {
      name: "trimming",
      stream: async function* () {
        yield { type: "text_delta", id: null, delta: " a " }
        yield { type: "message_completed", message: { role: "assistant", content: "a" }, finishReason: "stop" }
      }
    }
    const result = await Chat.step(Engine.make({ adapter }), hi)
    expect(result.thread.messages.at(-1)?.content).toBe(" a ")
  })

  test("87 an invalid thread asks the model nothing", async () => {
    const adapter = check.fake({ script: says("x") })
    const broken = [{ role: "tool", content: "x" } as unknown as (typeof hi)[0]]
    await expect(Chat.step(Engine.make({ adapter }), broken)).rejects.toMatchObject({
      reason: "invalid_thread",
      errors: [{ field: ["messages", 0, "tool_call_id"], reason: "required" }]
    })
    expect(adapter.requests).toEqual([])
  })

  test("88 a question is in the halt; the thread ends with the asking call's message", async () => {
    const result = await stepOf(calls("ask"), [handling("ask", () => askUser("which?", { a: 1 }))])
    expect(result).toMatchObject({
      done: true,
      halt: { type: "question", question: "which?", toolCallId: "c0", options: { a: 1 } }
    })
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "tool", content: "<awaiting user response>" })
  })

  test("90 an error in the stream is a done step with what was said", async () => {
    const result = await stepOf([{ text: "p" }, { error: "timeout" }])
    expect(result).toMatchObject({
      done: true,
      response: { finishReason: "error", metadata: { error: { reason: "timeout" } } }
    })
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "assistant", content: "p" })
  })

  test("D8 calls of a reply that ended otherwise than with `tool_calls` are neither run nor stored", async () => {
    for (const finish of ["length", "stop", "content_filter", "error", "other"] as const) {
      let ran = 0
      const script = [...calls("t").slice(0, 1), { finish }]
      const result = await stepOf(script, [handling("t", () => ok(++ran))])
      expect(result).toMatchObject({ done: true, truncatedToolCalls: [{ id: "c0" }], toolResults: [] })
      expect(result.thread.messages.at(-1)).not.toHaveProperty("toolCalls")
      expect(ran).toBe(0)
    }
  })

  test("D9 a mixed turn whose automatic part halts keeps its manual calls", async () => {
    const tools = [handling("echo", () => halt("budget", 1)), manual]
    expect(await stepOf(callsBoth, tools)).toMatchObject({
      done: true,
      halt: { reason: "budget" },
      manualToolCalls: [{ id: "c1" }]
    })
  })

  test("D40 `tool_calls` without a call is a step that is not done", async () => {
    expect(await stepOf([{ finish: "tool_calls" }])).toMatchObject({
      done: false,
      toolResults: [],
      manualToolCalls: []
    })
  })

  test("a tool error that halts is in the halt, with the error", async () => {
    const result = await stepOf(calls("t"), [handling("t", () => error("no"))], { onToolError: "halt" })
    expect(result).toMatchObject({ done: true, halt: { type: "tool_error", toolCallId: "c0", error: "no" } })
  })
})

describe("what is checked before a step", () => {
  test("10 a missing adapter comes before an invalid request", async () => {
    const engine = Engine.make({})
    await expect(Chat.step(engine, [])).rejects.toMatchObject({ reason: "missing_adapter" })
    await expect(Chat.streamStep(engine, hi)).rejects.toMatchObject({ reason: "missing_adapter" })
  })

  test("11 an adapter that cannot stream is refused", async () => {
    const engine = Engine.make({ adapter: { name: "mute" } as unknown as Adapter })
    await expect(Chat.step(engine, hi)).rejects.toMatchObject({ reason: "missing_stream_adapter" })
  })

  test("12 an invalid request asks the model nothing and uses up no script", async () => {
    const adapter = check.fake({ scripts: [says("first")] })
    const engine = Engine.make({ adapter })
    await expect(Chat.step(engine, [])).rejects.toBeInstanceOf(ValidationError)
    await expect(Chat.step(engine, [])).rejects.toMatchObject({ errors: [{ field: ["messages"], reason: "empty" }] })
    expect((await Chat.step(engine, hi)).response.outputText).toBe("first")
  })
})

describe("what the reader of a step sees", () => {
  const noisy: Script = [
    { text: "a" },
    { toolCallDelta: { id: "c0", argumentsDelta: "{" } },
    { rawChunk: "x" },
    { rawChunk: { type: "usage", usage: { inputTokens: 3 } } },
    { finish: "stop" }
  ]

  test("17 raw chunks are left out, but those of usage", async () => {
    const events = await eventsOf(noisy)
    expect(only(events, "raw_chunk").chunk).toMatchObject({ type: "usage" })
    expect(only(events, "step_completed").response.usage.inputTokens).toBe(3)
  })

  test("18 with includeRawChunks all of them are there", async () => {
    const events = await eventsOf(noisy, [], { includeRawChunks: true })
    expect(tagsOf(events).filter((tag) => tag === "raw_chunk")).toHaveLength(2)
  })

  test("19 without deltas the text is there all the same", async () => {
    const events = await eventsOf(noisy, [], { emitTextDeltas: false, emitToolDeltas: false })
    expect(tagsOf(events)).toEqual([
      "message_started",
      "raw_chunk",
      "text_completed",
      "message_completed",
      "step_completed"
    ])
    expect(only(events, "step_completed").response.outputText).toBe("a")
  })

  test("reasoning streams in its place, is stored as a part, and is left out with the deltas of text", async () => {
    const thinking: Script = [{ reasoning: "so " }, { reasoning: "then" }, { text: "a" }, { finish: "stop" }]
    const events = await eventsOf(thinking)
    expect(events.slice(1, 3)).toEqual([
      { type: "reasoning_delta", id: "0", delta: "so " },
      { type: "reasoning_delta", id: "0", delta: "then" }
    ])
    const { response, thread } = only(events, "step_completed")
    expect(response.outputText).toBe("a")
    expect(thread.messages.at(-1)).toMatchObject({
      content: "a",
      parts: [
        { type: "reasoning", text: "so then" },
        { type: "text", text: "a" }
      ]
    })
    expect(tagsOf(await eventsOf(thinking, [], { emitTextDeltas: false }))).toEqual([
      "message_started",
      "text_completed",
      "message_completed",
      "step_completed"
    ])
  })

  test("20 onEvent sees what the adapter said before anything is left out, and nothing else", async () => {
    const seen: Array<Event> = []
    const options: StepOptions = { emitTextDeltas: false, onEvent: (event) => seen.push(event) }
    const events = await eventsOf([...noisy.slice(0, 3), ...calls("echo")], [echo], options)
    expect(tagsOf(events)).not.toContain("text_delta")
    expect(tagsOf(seen)).toEqual([
      "message_started",
      "text_delta",
      "tool_call_delta",
      "raw_chunk",
      "tool_call_started",
      "tool_call_completed",
      "text_completed",
      "message_completed"
    ])
  })
})
