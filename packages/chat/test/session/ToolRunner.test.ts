import { describe, expect, test } from "vitest"
import { EngineError, ToolError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import { runToolCalls, streamToolCalls, type ToolRunnerOptions } from "../../src/session/ToolRunner.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { echo, handling, tagsOf } from "../double/scripts.ts"
import type { OnToolError } from "../../src/options/callPolicy.ts"
import type { Handler, Tool, ToolContext } from "../../src/tool/toolContract.ts"

leakCheck()

const call = (name: string, id = "c0", args: Record<string, unknown> = {}): ToolCall => ({ id, name, arguments: args })

/** One call of a handler, run and streamed. */
const runOne = async (handler: Handler, options: ToolRunnerOptions = {}) => {
  const tools = [handling("t", handler)]
  const run = await runToolCalls([call("t")], tools, options)
  return { content: run.messages[0]?.content, halt: run.halt, messages: run.messages }
}

const streamOne = async (handler: Handler, options: ToolRunnerOptions = {}): Promise<ReadonlyArray<Event>> => {
  const events: Array<Event> = []
  for await (const event of streamToolCalls([call("t")], [handling("t", handler)], options)) events.push(event)
  return events
}

/** Tools that a test finishes. */
const gated = (...names: ReadonlyArray<string>) => {
  const gates = new Map(names.map((name) => [name, Promise.withResolvers<HandlerResult>()]))
  const running: Array<string> = []
  const tools = names.map((name) =>
    handling(name, () => {
      running.push(name)
      return gates.get(name)?.promise ?? ok(null)
    })
  )
  return { tools, running, finish: (name: string, result: HandlerResult) => gates.get(name)?.resolve(result) }
}

const unencodable = () => 1

describe("running tool calls", () => {
  test("40 a value is encoded without its wrapping", async () => {
    expect((await runOne(() => ok("hi"))).content).toBe("hi")
    expect((await runOne(() => ok(ok("hi")))).content).toBe('{"ok":"hi"}')
  })

  test("the metadata that the host has at the end of a call is stored with the result", async () => {
    let notes: Readonly<Record<string, unknown>> | undefined
    const storedMetadata = { ofMessage: () => notes }
    const noting: Handler = () => ((notes = { noted: [1] }), ok("hi"))
    expect((await runOne(noting, { storedMetadata })).messages[0]).toMatchObject({ metadata: { noted: [1] } })
    notes = undefined
    expect((await runOne(() => ok("hi"), { storedMetadata })).messages[0]?.metadata).toBeUndefined()
  })

  test("41, 42 messages come in call order, events in completion order", async () => {
    const { tools, finish, running } = gated("a", "b")
    const toolCalls = [call("a", "c0"), call("b", "c1")]
    const seen: Array<string> = []
    const reading = (async () => {
      for await (const event of streamToolCalls(toolCalls, tools)) if ("id" in event) seen.push(event.id)
    })()
    await until(() => running.length === 2)
    finish("b", ok("second"))
    await until(() => seen.length === 3)
    finish("a", ok("first"))
    await reading
    expect(seen).toEqual(["c1", "c1", "c1", "c0", "c0", "c0"])
    const run = await runToolCalls(toolCalls, tools)
    expect(run.messages.map(({ content }) => content)).toEqual(["first", "second"])
  })

  test("43 the three events of a call stand together", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `t${index}`)
    const { tools, finish, running } = gated(...names)
    const events: Array<Event> = []
    const reading = (async () => {
      for await (const event of streamToolCalls(
        names.map((name) => call(name, name)),
        tools
      ))
        events.push(event)
    })()
    await until(() => running.length >= 2)
    for (const name of names.toReversed()) finish(name, ok(name))
    await reading
    for (let index = 0; index < events.length; index += 3) {
      const trio = events.slice(index, index + 3)
      expect(tagsOf(trio)).toEqual(["tool_execution_started", "tool_execution_completed", "tool_result_encoded"])
      expect(new Set(trio.map((event) => ("id" in event ? event.id : undefined))).size).toBe(1)
    }
    expect(events).toHaveLength(60)
  })

  test("BATCH11 each call beyond `maxCallsPerReply` is refused with the bound, and its handler does not run", async () => {
    let ran = 0
    const tools = [handling("t", () => ok(++ran))]
    const three = ["c0", "c1", "c2"].map((id) => call("t", id))
    const { messages } = await runToolCalls(three, tools, { maxCallsPerReply: 2 })
    expect([ran, messages.map(({ outcome }) => outcome)]).toEqual([2, ["completed", "completed", "not_started"]])
    expect(messages[2]?.content).toContain("at most 2 calls of a reply run")
    const many = Array.from({ length: 130 }, (_, index) => call("t", `c${index}`))
    const all = await runToolCalls(many, tools)
    expect(all.messages.filter(({ outcome }) => outcome === "not_started")).toHaveLength(2)
    expect((await runToolCalls(many, tools, { maxCallsPerReply: Infinity })).messages[129]?.outcome).toBe("completed")
  })

  test("44 an empty batch is an empty result", async () => {
    expect(await runToolCalls([], [])).toEqual({ messages: [], halt: undefined })
    for await (const _ of streamToolCalls([], [])) throw new Error("an event")
  })

  test.each(["nope", () => 1, (_a: unknown, _b: unknown, _c: unknown) => "halt", 7])(
    "45 the policy %s is refused or taken even for an empty batch",
    async (policy) => {
      const running = runToolCalls([], [], { onToolError: policy as unknown as OnToolError })
      if (typeof policy === "function" && policy.length <= 2) expect(await running).toBeDefined()
      else await expect(running).rejects.toMatchObject({ _tag: "ValidationError", reason: "invalid_options" })
    }
  )

  test("46 an unknown tool stops the whole batch before anything runs", async () => {
    let ran = 0
    const tools = [handling("good", () => ok(++ran))]
    await expect(runToolCalls([call("good"), call("bad", "c1")], tools)).rejects.toMatchObject({
      _tag: "EngineError",
      reason: "unknown_tool",
      metadata: { toolName: "bad", toolCallId: "c1" }
    })
    expect(ran).toBe(0)
  })

  test("47 an unknown tool is a single error event", async () => {
    const events: Array<Event> = []
    for await (const event of streamToolCalls([call("bad")], [])) events.push(event)
    expect(events).toEqual([{ type: "error", error: expect.any(EngineError) as unknown }])
  })

  test("48, 49 by default the model reads the failure and the batch goes on", async () => {
    expect(await runOne(() => error("bad arg"))).toMatchObject({ content: '{"error":"bad arg"}', halt: undefined })
    expect((await runOne(() => error({ code: 7 }))).content).toBe('{"error":"{\\"code\\":7}"}')
  })

  test("50, 51 the policy `halt` ends the loop with the call's error", async () => {
    const run = await runOne(() => error("x"), { onToolError: "halt" })
    expect(run).toMatchObject({ content: '{"error":"x"}', halt: { type: "tool_error", toolCallId: "c0", error: "x" } })
    const events = await streamOne(() => error("x"), { onToolError: "halt" })
    expect(events.slice(1)).toMatchObject([
      { type: "tool_execution_completed", result: { type: "error", reason: "x" } },
      { type: "tool_halt", reason: "tool_error", result: "x", content: '{"error":"x"}' }
    ])
  })

  test("52 a policy function's replacement takes the place of the failure", async () => {
    const onToolError: OnToolError = () => ({ continue: { f: 1 } })
    expect(await runOne(() => error("x"), { onToolError })).toMatchObject({ content: '{"f":1}', halt: undefined })
    const events = await streamOne(() => error("x"), { onToolError })
    expect(events[1]).toMatchObject({ result: { type: "ok", value: { f: 1 } } })
  })

  test("53 a policy function can halt, and sees the bare reason and the call", async () => {
    const seen: Array<unknown> = []
    const run = await runOne(() => error("x"), {
      onToolError: (toolCall, reason) => {
        seen.push(toolCall.id, reason)
        return "halt"
      }
    })
    expect(run.halt).toMatchObject({ type: "tool_error", error: "x" })
    expect(seen).toEqual(["c0", "x"])
  })

  test.each(["continue", undefined, {}, 7])(
    "54 a policy function that returns %j halts, and is asked once",
    async (decision) => {
      let asked = 0
      const onToolError = (() => {
        asked++
        return decision
      }) as unknown as OnToolError
      const run = await runOne(() => error("x"), { onToolError })
      expect(run.halt).toMatchObject({ error: { reason: "invalid_return", metadata: { on_tool_error_invalid: true } } })
      expect(asked).toBe(1)
    }
  )

  test("55 TOUT6 a policy function that raises halts, is asked once, and its text is in no message", async () => {
    let asked = 0
    const oops = new Error("oops")
    const run = await runOne(() => error("x"), {
      onToolError: () => {
        asked++
        throw oops
      }
    })
    expect(run.halt).toMatchObject({
      type: "tool_error",
      policyFault: oops,
      error: { cause: oops, metadata: { on_tool_error_raised: true } }
    })
    expect(run.content).not.toContain("oops")
    expect(asked).toBe(1)
  })

  test("56 a replacement without text halts, and the policy is asked once", async () => {
    let asked = 0
    const run = await runOne(() => error("x"), {
      onToolError: () => {
        asked++
        return { continue: unencodable }
      }
    })
    expect(run).toMatchObject({ halt: { type: "tool_error", error: { reason: "encoding_failed" } } })
    expect(run.content).toContain("encoding_failed")
    expect(asked).toBe(1)
  })

  test("57 a result without text is an encoding error that goes through the policy", async () => {
    let seen: unknown
    const run = await runOne(() => ok(unencodable), {
      onToolError: (_call, reason) => {
        seen = reason
        return { continue: "instead" }
      }
    })
    expect(seen).toBeInstanceOf(ToolError)
    expect(run.content).toBe("instead")
    expect((await runOne(() => ok(unencodable))).content).toContain(
      "encoding_failed: The result is a function, which has no JSON form"
    )
  })

  test("58 a handler's halt carries its reason and its result", async () => {
    expect(await runOne(() => halt("plan_submitted", { s: 1 }))).toMatchObject({
      content: '{"s":1}',
      halt: { type: "halt", toolCallId: "c0", reason: "plan_submitted", result: { s: 1 } }
    })
  })

  test.each([
    "ask_user",
    "max_turns",
    "halt_when",
    "tool_error",
    "cancelled",
    "completed",
    "error",
    "manual_tool_calls",
    "budget_tokens",
    "budget_cost",
    "budget_time",
    "expired",
    ""
  ])("59, D11 the reserved reason %j halts nothing and is an invalid_return", async (reason) => {
    const run = await runOne(() => halt(reason, 1))
    expect(run.halt).toBeUndefined()
    expect(run.content).toContain("reserved")
    let seen: unknown
    await runOne(() => halt(reason, 1), { onToolError: (_call, fault) => ((seen = fault), "halt") })
    expect(seen).toMatchObject({ reason: "invalid_return", metadata: { reserved_halt_reason: reason } })
  })

  test("60 a halt whose result has no text halts nothing", async () => {
    const run = await runOne(() => halt("done", unencodable))
    expect(run.halt).toBeUndefined()
    expect(run.content).toContain("encoding_failed")
  })

  test("61, 62 a question waits for the user, with its options, and the encoder is not asked", async () => {
    const toolResultEncoder = {
      encode: () => {
        throw new Error("asked")
      }
    }
    expect(await runOne(() => askUser("which?"), { toolResultEncoder })).toMatchObject({
      content: "<awaiting user response>",
      halt: { type: "question", toolCallId: "c0", question: "which?", options: {} }
    })
    const run = await runOne(() => askUser("q", { choices: ["A", "B"] }))
    expect(run.halt).toMatchObject({ options: { choices: ["A", "B"] } })
  })

  test("64 the deadline counts from the start of the handler, not from the queue", async () => {
    const { tools, finish, running } = gated("a", "b")
    const run = runToolCalls([call("a"), call("b", "c1")], tools, { maxConcurrency: 1, toolTimeoutMs: 20_000 })
    await until(() => running.length === 1)
    expect(running).toEqual(["a"])
    finish("a", ok(1))
    await until(() => running.length === 2)
    finish("b", ok(2))
    expect((await run).messages.map(({ content }) => content)).toEqual(["1", "2"])
  })

  test.each([
    [1, 1],
    [2, 2],
    [undefined, 2 * navigator.hardwareConcurrency]
  ])("65, 66 with maxConcurrency %s at most %i calls run at once, and all are run", async (maxConcurrency, most) => {
    let running = 0
    let peak = 0
    const tool = handling("t", async () => {
      peak = Math.max(peak, ++running)
      await new Promise((resolve) => void setImmediate(resolve))
      running--
      return ok(1)
    })
    const toolCalls = Array.from({ length: 100 }, (_, index) => call("t", `c${index}`))
    const run = await runToolCalls(toolCalls, [tool], maxConcurrency === undefined ? {} : { maxConcurrency })
    expect(peak).toBe(most)
    expect(run.messages.map(({ toolCallId }) => toolCallId)).toEqual(toolCalls.map(({ id }) => id))
  })

  test("67, 68 a halt neither cancels a running call nor skips a waiting one", async () => {
    const { tools, finish, running } = gated("halting", "slow", "later")
    const toolCalls = ["halting", "slow", "later"].map((name, index) => call(name, `c${index}`))
    const run = runToolCalls(toolCalls, tools, { maxConcurrency: 2 })
    await until(() => running.length === 2)
    finish("halting", halt("budget", 1))
    await until(() => running.length === 3)
    finish("later", ok("later"))
    finish("slow", ok("slow"))
    expect(await run).toMatchObject({
      messages: [{ content: "1" }, { content: "slow" }, { content: "later" }],
      halt: { reason: "budget" }
    })
  })

  test("69, 70, 71, D4, D5 of several halts the first in call order counts, and every call keeps its message", async () => {
    const { tools, finish, running } = gated("a", "b", "c")
    const toolCalls = ["a", "b", "c"].map((name, index) => call(name, `c${index}`))
    const run = runToolCalls(toolCalls, tools)
    await until(() => running.length === 3)
    finish("c", askUser("which?"))
    finish("b", halt("second_reason", 2))
    finish("a", halt("first_reason", 1))
    expect(await run).toMatchObject({
      halt: { type: "halt", reason: "first_reason", toolCallId: "c0" },
      messages: [{ content: "1" }, { content: "2" }, { content: "<awaiting user response>" }]
    })
  })

  test("72 the call's executor and encoder win over the engine's, those over the default", async () => {
    const executing = (word: string) => ({ execute: () => ok(word) })
    const encoding = (word: string) => ({ encode: (value: unknown) => `${word} ${json.encode(value)}` })
    const engine = Engine.make({ toolExecutor: executing("engine"), toolResultEncoder: encoding("engine") })
    const handler = () => ok("default")
    expect((await runOne(handler)).content).toBe("default")
    expect((await runOne(handler, { engine })).content).toBe("engine engine")
    const toolExecutor = executing("call")
    expect((await runOne(handler, { engine, toolExecutor, toolResultEncoder: encoding("call") })).content).toBe(
      "call call"
    )
  })

  test("73 the call's context takes the place of the engine's, that of none", async () => {
    const seen: Array<ToolContext> = []
    const handler: Handler = (_args, context) => {
      seen.push(context)
      return ok(1)
    }
    const engine = Engine.make({ context: { from: "engine" } })
    await runOne(handler)
    await runOne(handler, { engine })
    await runOne(handler, { engine, context: { from: "call" }, sessionId: "s", requestId: "r" })
    expect(seen.map(({ context }) => context)).toEqual([{}, { from: "engine" }, { from: "call" }])
    expect(seen[2]).toMatchObject({ sessionId: "s", requestId: "r", toolCall: { id: "c0" } })
    expect(seen[2]?.engine?.context).toEqual({ from: "engine" })
    expect(seen[2]?.engine?.tools.map(({ name }) => name)).toEqual(["t"])
  })

  test("D14 arguments that are no JSON object are never executed", async () => {
    let ran = 0
    const tools = [handling("t", () => ok(++ran))]
    const run = await runToolCalls([{ id: "c0", name: "t", arguments: null, rawArguments: '{"a":' }], tools)
    expect(run.messages[0]?.content).toContain("invalid_arguments")
    expect(ran).toBe(0)
  })

  test("D18 arguments that do not fit the schema are named by their path, and the handler does not run", async () => {
    let ran = 0
    const schema = { type: "object", properties: { at: { type: "object", properties: { x: { type: "number" } } } } }
    const tools: ReadonlyArray<Tool> = [make({ name: "t", parameters: schema, handler: () => ok(++ran) })]
    const run = await runToolCalls([call("t", "c0", { at: { x: "one" } })], tools)
    expect(run.messages[0]?.content).toContain("invalid_arguments")
    expect(run.messages[0]?.content).toContain("at.x")
    expect(ran).toBe(0)
  })

  test("calls with the same id each run and each have their message", async () => {
    const run = await runToolCalls([call("echo", "c0", { n: 1 }), call("echo", "c0", { n: 2 })], [echo])
    expect(run.messages).toMatchObject([{ content: '{"n":1}' }, { content: '{"n":2}' }])
  })

  test("a manual tool given to the runner is run: who answers is the step's concern", async () => {
    const manual = make({ name: "t", manual: true, handler: () => ok("ran") })
    expect((await runToolCalls([call("t")], [manual])).messages[0]?.content).toBe("ran")
  })
})

test.each<readonly [unknown, unknown, string]>([
  ["calls", [], "toolCalls: must_be_a_list"],
  [undefined, [], "toolCalls: must_be_a_list"],
  [[null], [], "toolCalls.0: must_be a tool call"],
  [[{ id: "c0", name: "t" }], [], "toolCalls.0: must_be a tool call"],
  [[{ id: 5, name: "t", arguments: {} }], [], "toolCalls.0: must_be a tool call"],
  [[{ id: "c0", name: "t", arguments: [] }], [], "toolCalls.0: must_be a tool call"],
  [[], "tools", "tools: must_be_a_list of tools"],
  [[], [{ name: "t" }], "tools.0: must_be a tool"]
])("calls %j of tools %j are refused, by their place", async (toolCalls, tools, message) => {
  const running = runToolCalls(toolCalls as never, tools as never)
  await expect(running).rejects.toMatchObject({ _tag: "ValidationError", reason: "invalid_options" })
  await expect(running).rejects.toThrow(message)
})
