import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { EngineError } from "../../src/errors/ChatError.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import { user } from "../../src/model/Message.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, only, readAll, says, tagsOf } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

interface Given {
  readonly scripts?: ReadonlyArray<Script>
  readonly tools?: ReadonlyArray<Tool>
  readonly params?: Record<string, unknown>
}

const given = ({ scripts = callThenAnswer, tools = [echo], params = {} }: Given) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools, params }) }
}

const run = (parts: Given, options?: ChatOptions): Promise<ChatResult> => Chat.run(given(parts).engine, hi, options)

const rolesOf = ({ thread }: ChatResult) => thread.messages.map(({ role }) => role)

/** So many replies that call echo. */
const turns = (count: number): ReadonlyArray<Script> => Array.from({ length: count }, () => calls("echo"))

const manual = make({ name: "m", manual: true })

describe("a chat", () => {
  test("93 runs steps until the model has answered", async () => {
    const result = await run({})
    expect(result).toMatchObject({ haltedReason: "completed", metadata: {}, pendingToolCalls: [] })
    expect(result.steps).toHaveLength(2)
    expect(rolesOf(result)).toEqual(["user", "assistant", "tool", "assistant"])
    expect(result.finalResponse).toEqual(result.steps[1]?.response)
  })

  test("94, 95 gives the events of each step in turn, and one end, last", async () => {
    const step = ["message_started", "tool_call_started", "tool_call_completed", "message_completed"]
    const tools = ["tool_execution_started", "tool_execution_completed", "tool_result_encoded", "step_completed"]
    const answer = ["message_started", "text_delta", "text_completed", "message_completed", "step_completed"]
    const events = await readAll(await Chat.stream(given({}).engine, hi))
    expect(tagsOf(events)).toEqual([...step, ...tools, ...answer, "chat_completed"])
  })

  test("96 stops at maxTurns requests, after the tools of the last", async () => {
    let ran = 0
    const { adapter, engine } = given({ scripts: turns(3), tools: [handling("echo", () => ok(++ran))] })
    const result = await Chat.run(engine, hi, { maxTurns: 2 })
    expect(result).toMatchObject({ haltedReason: "max_turns", metadata: { maxTurns: 2 } })
    expect([result.steps.length, adapter.requests.length, ran]).toEqual([2, 2, 2])
  })

  test("97 an answer in the last turn is completed", async () => {
    expect((await run({ scripts: [says("x")] }, { maxTurns: 1 })).haltedReason).toBe("completed")
  })

  test("a haltWhen, a policy or a hook that requires more than it gets is refused at the call, and one of less is not", async () => {
    const refusing = [
      { haltWhen: (_a: unknown, _b: unknown) => true },
      { onToolError: (_a: unknown, _b: unknown, _c: unknown) => "halt" },
      { onToolTimeout: (_a: unknown, _b: unknown, _c: unknown) => "halt" },
      { permissions: { ask: (_a: unknown, _b: unknown) => "allow" } },
      { permissions: { readOnly: (_a: unknown, _b: unknown) => true } },
      { hooks: { Stop: [(_a: unknown, _b: unknown, _c: unknown) => undefined] } },
      { hooks: { PreToolUse: [(_a: unknown, _b: unknown, _c: unknown) => undefined] } },
      { hooks: { PreToolUse: [{ hooks: [(_a: unknown, _b: unknown, _c: unknown) => undefined] }] } }
    ]
    for (const options of refusing) {
      await expect(run({}, options as never)).rejects.toMatchObject({ reason: "invalid_options" })
    }
    expect(
      (await run({ scripts: [says("x")] }, { haltWhen: () => false, onToolError: () => "halt" })).steps
    ).toHaveLength(1)
  })

  test("98, 99 the call's maxTurns wins over the engine's, that over 8", async () => {
    const stepsOf = async (parts: Given, options?: ChatOptions) => (await run(parts, options)).steps.length
    expect(await stepsOf({ scripts: turns(9) })).toBe(8)
    expect(await stepsOf({ scripts: turns(9), params: { maxTurns: 2 } })).toBe(2)
    expect(await stepsOf({ scripts: turns(9), params: { maxTurns: 2 } }, { maxTurns: 1 })).toBe(1)
  })

  test.each([0, -1, 1.5, "2", Number.NaN])("100 maxTurns %s is refused at the call", async (maxTurns) => {
    const options = { maxTurns: maxTurns as number }
    await expect(run({}, options)).rejects.toMatchObject({ reason: "invalid_options" })
    await expect(Chat.stream(given({}).engine, hi, options)).rejects.toMatchObject({ reason: "invalid_options" })
    await expect(run({ params: options })).rejects.toMatchObject({ reason: "invalid_options" })
  })

  test("101 haltWhen is asked with the thread as it is after the step", async () => {
    const result = await run({}, { haltWhen: ({ thread }) => thread.messages.length === 3 })
    expect(result).toMatchObject({ haltedReason: "halt_when", metadata: { haltWhenStepIndex: 0 } })
    expect(result.steps).toHaveLength(1)
  })

  test("102 haltWhen is not asked about a final answer", async () => {
    const haltWhen = () => {
      throw new Error("asked")
    }
    expect((await run({ scripts: [says("x")] }, { haltWhen })).haltedReason).toBe("completed")
  })

  test("103 haltWhen wins over maxTurns", async () => {
    expect((await run({}, { haltWhen: () => true, maxTurns: 1 })).haltedReason).toBe("halt_when")
  })

  test("105 a question ends the chat, and is the last message of its thread", async () => {
    const tools = [handling("ask", () => askUser("which?", { a: 1 }))]
    const { adapter, engine } = given({ scripts: [calls("ask")], tools })
    const result = await Chat.run(engine, hi)
    expect(result).toMatchObject({
      haltedReason: "ask_user",
      pendingQuestion: { question: "which?", toolCallId: "c0", options: { a: 1 } }
    })
    expect(result.thread.messages.at(-1)).toEqual({
      role: "assistant",
      content: "which?",
      metadata: { ask_user: true, tool_call_id: "c0" }
    })
    expect(adapter.requests).toHaveLength(1)
  })

  test("106 the step's thread lacks the question, the chat's has it; no message is invented", async () => {
    const tools = [handling("ask", () => askUser("which?"))]
    const events = await readAll(await Chat.stream(given({ scripts: [calls("ask")], tools }).engine, hi))
    const inStep = only(events, "step_completed").thread.messages
    expect(only(events, "chat_completed").result.thread.messages).toHaveLength(inStep.length + 1)
    expect(tagsOf(events).filter((tag) => tag === "message_started")).toHaveLength(1)
    expect(tagsOf(events).filter((tag) => tag === "message_completed")).toHaveLength(1)
  })

  test("107 a question is answered by the next user message", async () => {
    const tools = [handling("ask", () => askUser("which?"))]
    const { engine } = given({ scripts: [calls("ask"), says("thanks")], tools })
    const asked = await Chat.run(engine, hi)
    const result = await Chat.run(engine, [...asked.thread.messages, user("Paris")])
    expect(result.haltedReason).toBe("completed")
    expect(rolesOf(result)).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant"])
  })

  test("108 a handler's halt is the reason the chat ends", async () => {
    const result = await run({ scripts: [calls("t")], tools: [handling("t", () => halt("budget", 1))] })
    expect(result).toMatchObject({ haltedReason: "budget", metadata: { haltToolCallId: "c0", haltResult: 1 } })
  })

  test("109 a tool error that halts leaves a whole thread", async () => {
    const tools = [handling("t", () => error("no"))]
    const result = await run({ scripts: [calls("t")], tools }, { onToolError: "halt" })
    expect(result).toMatchObject({ haltedReason: "tool_error", metadata: { haltToolCallId: "c0", error: "no" } })
    expect(rolesOf(result)).toEqual(["user", "assistant", "tool"])
  })

  test("110 manual mode ends with the calls to answer", async () => {
    const result = await run({}, { mode: "manual" })
    expect(result).toMatchObject({ haltedReason: "manual_tool_calls", metadata: { manualTurnIndex: 0 } })
    expect(result.pendingToolCalls).toEqual(result.finalResponse?.toolCalls)
  })

  test("111 manual mode with a final answer is completed", async () => {
    expect((await run({ scripts: [says("x")] }, { mode: "manual" })).haltedReason).toBe("completed")
  })

  test("112 a mixed turn ends with its manual calls, the others answered", async () => {
    const result = await run({ scripts: [calls("echo", "m")], tools: [echo, manual] })
    expect(result).toMatchObject({
      haltedReason: "manual_tool_calls",
      metadata: { manualTurnIndex: 0, manualToolCalls: [{ id: "c1" }] },
      pendingToolCalls: [{ id: "c1" }]
    })
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "c0" })
  })

  test("113, D9 a question wins over manual calls, which stay pending", async () => {
    const tools = [handling("ask", () => askUser("which?")), manual]
    const result = await run({ scripts: [calls("ask", "m")], tools })
    expect(result).toMatchObject({ haltedReason: "ask_user", pendingToolCalls: [{ id: "c1" }] })
  })

  test("an unknown tool beside manual calls leaves those pending", async () => {
    const events = await readAll(
      await Chat.stream(given({ scripts: [calls("ghost", "m")], tools: [manual] }).engine, hi)
    )
    expect(only(events, "chat_completed").result).toMatchObject({
      haltedReason: "error",
      pendingToolCalls: [{ id: "c1" }]
    })
  })

  test("D3 an unknown tool in the first step rejects `run`, and ends `stream` with `error`", async () => {
    const parts = { scripts: [calls("ghost")], tools: [] }
    await expect(run(parts)).rejects.toBeInstanceOf(EngineError)
    const events = await readAll(await Chat.stream(given(parts).engine, hi))
    expect(tagsOf(events).slice(-3)).toEqual(["error", "step_completed", "chat_completed"])
    const { result } = only(events, "chat_completed")
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "unknown_tool" } } })
  })

  test("D3 an unknown tool in a later step is `error`, in both forms", async () => {
    const scripts = [calls("echo"), calls("ghost")]
    const result = await run({ scripts })
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "unknown_tool" } } })
    expect(result.steps).toHaveLength(2)
  })

  test.each(["length", "content_filter", "other"] as const)(
    "116, 117, D7 the finish reason %s is completed",
    async (finish) => {
      const result = await run({ scripts: [says("a", finish), says("never")] })
      expect(result).toMatchObject({
        haltedReason: "completed",
        finalResponse: { finishReason: finish, outputText: "a" }
      })
      expect(result.steps).toHaveLength(1)
    }
  )

  test("117, D7 no finish reason at all is completed", async () => {
    expect((await run({ scripts: [[{ text: "a" }], says("never")] })).steps).toHaveLength(1)
  })

  test("D8 calls of a truncated reply are reported", async () => {
    const result = await run({ scripts: [[...calls("echo").slice(0, 1), { finish: "length" }]] })
    expect(result).toMatchObject({ haltedReason: "completed", metadata: { truncatedToolCalls: [{ id: "c0" }] } })
  })

  test("SCHED8 a write beside a question runs once, and the answer to the question completes the turn", async () => {
    let writes = 0
    const tools = [handling("write", () => ok(++writes)), handling("ask", () => askUser("Really?"))]
    const { engine } = given({ scripts: [calls("write", "ask"), says("done")], tools })
    const asked = await Chat.run(engine, hi)
    expect(asked).toMatchObject({ haltedReason: "ask_user", pendingQuestion: { question: "Really?" } })
    const answered = await Chat.run(engine, [...asked.thread.messages, user("yes")])
    expect([answered.haltedReason, writes]).toEqual(["completed", 1])
  })

  test("D40 `tool_calls` without a call asks again, at most maxTurns times", async () => {
    const result = await run({ scripts: Array.from({ length: 9 }, (): Script => [{ finish: "tool_calls" }]) })
    expect(result).toMatchObject({ haltedReason: "max_turns" })
    expect(result.steps).toHaveLength(8)
  })

  test("118, 119 a reader who leaves gets no end", async () => {
    for (const tag of ["message_started", "step_completed"] as const) {
      const { adapter, engine } = given({})
      const stream = await Chat.stream(engine, hi)
      for await (const event of stream) {
        expect(event.type).not.toBe("chat_completed")
        if (event.type === tag) break
      }
      expect(adapter.requests).toHaveLength(1)
    }
  })

  test("122 all steps of a chat share one request id, and so do their tools", async () => {
    const ids = new Set<unknown>()
    const tools = [handling("echo", (_args, { requestId }) => (ids.add(requestId), ok(1)))]
    const result = await run({ tools })
    for (const step of result.steps) ids.add(step.response.requestId)
    expect(ids.size).toBe(1)
    const given_ = await run({ tools }, { requestId: "mine" })
    expect(given_.steps.map(({ response }) => response.requestId)).toEqual(["mine", "mine"])
  })

  test("121 `run` is the last event of `stream`", async () => {
    const cases: ReadonlyArray<readonly [Given, ChatOptions]> = [
      [{}, {}],
      [{ scripts: turns(3) }, { maxTurns: 2 }],
      [{}, { haltWhen: () => true }],
      [{ scripts: [calls("t")], tools: [handling("t", () => askUser("q"))] }, {}],
      [{ scripts: [calls("t")], tools: [handling("t", () => halt("budget", 1))] }, {}],
      [{ scripts: [calls("t")], tools: [handling("t", () => error("no"))] }, { onToolError: "halt" }],
      [{}, { mode: "manual" }],
      [{ scripts: [calls("echo", "m")], tools: [echo, manual] }, {}]
    ]
    for (const [parts, options] of cases) {
      const fixed = { ...options, requestId: "r" }
      const streamed = only(await readAll(await Chat.stream(given(parts).engine, hi, fixed)), "chat_completed").result
      expect(await run(parts, fixed)).toEqual(streamed)
    }
  })
})

describe("the request of each step", () => {
  test("128 the call's tools replace those of the same name in place, the others come after", async () => {
    const named = (name: string, description = "") => make({ name, description, handler: () => ok(1) })
    const { adapter, engine } = given({ scripts: [says("x")], tools: ["a", "b", "c"].map((name) => named(name)) })
    await Chat.run(engine, hi, { tools: [named("d"), named("b", "mine")] })
    expect(adapter.requests[0]?.tools.map(({ name }) => name)).toEqual(["a", "b", "c", "d"])
    expect(adapter.requests[0]?.tools[1]?.description).toBe("mine")
  })

  test("129, D20 sampling parameters reach the request, the call's first", async () => {
    const { adapter, engine } = given({ scripts: [says("x")], params: { maxTokens: 100, temperature: 0.5, topK: 3 } })
    await Chat.run(engine, hi, { maxTokens: 50, model: "m", toolChoice: "required" })
    expect(adapter.requests[0]).toMatchObject({
      maxTokens: 50,
      temperature: 0.5,
      model: "m",
      toolChoice: "required",
      options: { topK: 3 }
    })
  })

  test("130, D27 options of the loop stay out of the body; unknown ones are refused", async () => {
    const { adapter, engine } = given({ scripts: [says("x")], params: { maxTurns: 3 } })
    const providerOptions = { seed: 7 }
    await Chat.run(engine, hi, { mode: "auto", maxTurns: 2, sessionId: "s", toolTimeoutMs: 1, providerOptions })
    expect(adapter.requests[0]?.options).toEqual({ seed: 7 })
    const misspelt = { maxTurn: 2 } as ChatOptions
    await expect(Chat.run(engine, hi, misspelt)).rejects.toMatchObject({ errors: [{ field: ["maxTurn"] }] })
  })

  test("131 the tools are the same in every request", async () => {
    const { adapter, engine } = given({ scripts: [calls("echo"), calls("echo"), says("x")], tools: [echo, manual] })
    await Chat.run(engine, hi)
    expect(new Set(adapter.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
    expect(adapter.requests).toHaveLength(3)
  })

  test("D28 the call's adapter options win over the engine's", async () => {
    let seen: unknown
    const adapter = check.fake({ script: says("x") })
    const spying = {
      ...adapter,
      stream: (...args: Parameters<typeof adapter.stream>) => {
        seen = args[1].adapterOptions
        return adapter.stream(...args)
      }
    }
    const engine = Engine.make({ adapter: spying, adapterOptions: { a: 1, b: 1 } })
    await Chat.run(engine, hi, { adapterOptions: { b: 2 } })
    expect(seen).toEqual({ a: 1, b: 2 })
  })
})
