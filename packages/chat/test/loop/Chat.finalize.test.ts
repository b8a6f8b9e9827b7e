import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, error, halt } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, only, readAll, said, says, tagsOf } from "../double/scripts.ts"
import { startChat, turnOf } from "../double/stepping.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const responseFormat = { type: "json_schema", name: "answer", schema: { type: "object" } } as const
const twoPasses: ChatOptions = { structuredFinalize: true, responseFormat }
const json = says('{"a":1}')

interface Given {
  readonly scripts: ReadonlyArray<Script>
  readonly tools?: ReadonlyArray<Tool>
  readonly options?: ChatOptions
}

/** Both forms, on engines of their own; they must agree. */
const both = async ({ scripts, tools = [echo], options = {} }: Given) => {
  const all = { ...twoPasses, requestId: "r", ...options }
  const adapters = [0, 1].map(() => check.fake({ scripts }))
  const [one, other] = adapters.map((adapter) => Engine.make({ adapter, tools }))
  if (one === undefined || other === undefined) throw new Error("two engines")
  const events = await readAll(await Chat.stream(one, hi, all))
  const result = await Chat.run(other, hi, all)
  expect(result).toEqual(only(events, "chat_completed").result)
  return { events, result, requests: adapters[1]?.requests ?? [] }
}

const noteOf = ({ metadata }: ChatResult) => metadata["structuredFinalize"]

describe("two passes", () => {
  test("123, 127 are the loop without the format, then one request in it, without tools, and one end", async () => {
    const { events, result, requests } = await both({ scripts: [...callThenAnswer, json] })
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: '{"a":1}' } })
    expect(result.metadata).toEqual({ structuredFinalize: { pass1Halted: "completed" } })
    expect(result.steps).toHaveLength(3)
    expect(result.thread.messages.map(said).slice(-3)).toEqual([
      "done",
      "Now provide your final structured response.",
      '{"a":1}'
    ])
    expect(requests.map(({ responseFormat: format, tools }) => [format, tools.length])).toEqual([
      [undefined, 1],
      [undefined, 1],
      [responseFormat, 0]
    ])
    expect(tagsOf(events).filter((tag) => tag === "step_completed")).toHaveLength(3)
  })

  test("21 tools of the call are gone in the second too, and a tool choice with them", async () => {
    const options = { tools: [make({ name: "own" })], toolChoice: "required" } as const
    const { requests } = await both({ scripts: [says("draft"), json], options })
    expect(requests.map(({ tools, toolChoice }) => [tools.length, toolChoice])).toEqual([
      [2, "required"],
      [0, undefined]
    ])
  })

  test("125 the second is not counted by maxTurns, and also follows on it and on haltWhen", async () => {
    for (const options of [{ maxTurns: 1 }, { haltWhen: () => true }]) {
      const { result } = await both({ scripts: [calls("echo"), json], options })
      const pass1Halted = "maxTurns" in options ? "max_turns" : "halt_when"
      expect(result).toMatchObject({ haltedReason: "completed", metadata: { structuredFinalize: { pass1Halted } } })
    }
  })

  test("126 the words before the second can be chosen, and left out", async () => {
    for (const structuredFinalizeNudge of ["Now JSON!", ""]) {
      const { result } = await both({ scripts: [says("draft"), json], options: { structuredFinalizeNudge } })
      const words = structuredFinalizeNudge === "" ? [] : [structuredFinalizeNudge]
      expect(result.thread.messages.map(said)).toEqual(["hi", "draft", ...words, '{"a":1}'])
    }
  })

  const ends: ReadonlyArray<readonly [string, Script, Tool, ChatOptions]> = [
    ["ask_user", calls("t"), handling("t", () => askUser("q")), {}],
    ["tool_error", calls("t"), handling("t", () => error("no")), { onToolError: "halt" }],
    ["mine", calls("t"), handling("t", () => halt("mine")), {}],
    ["manual_tool_calls", calls("t"), make({ name: "t", manual: true }), {}],
    ["manual_tool_calls", calls("t"), echo, { mode: "manual" }],
    ["error", [{ error: "timeout" }], echo, {}],
    ["error", calls("ghost"), echo, { onUnknownTool: "continue", maxTurns: 2 }],
    ["budget_tokens", [{ usage: { totalTokens: 9 } }, ...calls("echo")], echo, { budget: { tokens: 9 } }],
    ["budget_tokens", [{ usage: { totalTokens: 9 } }, ...says("draft")], echo, { budget: { tokens: 9 } }],
    ["budget_cost", [{ usage: { totalCost: 2 } }, ...calls("echo")], echo, { maxTurns: 1, budget: { cost: 2 } }]
  ]
  test.each(ends)("TWO1, 124 a first that ends with %s is the last", async (reason, script, tool, options) => {
    const { result, requests } = await both({ scripts: [script, [{ error: "timeout" }], json], tools: [tool], options })
    expect(result).toMatchObject({ haltedReason: reason, metadata: { structuredFinalize: { pass1Halted: reason } } })
    expect(requests.every((request) => request.responseFormat === undefined)).toBe(true)
  })

  test("TWO1 the second is one step, whatever the model says", async () => {
    const scripts = [says("draft"), calls("echo"), json]
    const unknown = await both({ scripts })
    expect(unknown.result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "unknown_tool" } } })
    const notified = await both({ scripts, options: { onUnknownTool: "continue" } })
    expect(notified.result).toMatchObject({
      haltedReason: "max_turns",
      metadata: { maxTurns: 1, structuredFinalize: { pass1Halted: "completed" } }
    })
    expect(notified.requests).toHaveLength(2)
  })

  test("TWO2 a second that is refused leaves the first's result, after an `error` event, in both forms", async () => {
    const scripts: ReadonlyArray<Script> = [says("draft"), [{ preflightError: "authentication_failed" }]]
    const { events, result } = await both({ scripts })
    const pass2Error = { reason: "authentication_failed" }
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "draft" } })
    expect(noteOf(result)).toMatchObject({ pass1Halted: "completed", pass2Error })
    expect(result.thread.messages.map(said)).toEqual(["hi", "draft"])
    expect(tagsOf(events).slice(-3)).toEqual(["step_completed", "error", "chat_completed"])
  })

  test("a second that fails in the middle is the end, with its error", async () => {
    const { result } = await both({ scripts: [says("draft"), [{ text: "{" }, { error: "timeout" }]] })
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "timeout" } } })
    expect(noteOf(result)).toEqual({ pass1Halted: "completed" })
    expect(result.steps).toHaveLength(2)
  })

  test("need a JSON Schema to ask for", async () => {
    const engine = Engine.make({ adapter: check.fake({ script: json }) })
    for (const format of [undefined, { type: "text" }, { type: "json_object" }] as const) {
      await expect(Chat.run(engine, hi, { structuredFinalize: true, responseFormat: format })).rejects.toMatchObject({
        reason: "invalid_request",
        errors: [{ reason: "requires_json_schema" }]
      })
    }
  })
})

describe("a living chat in two passes", () => {
  test("runs each turn so, commits before the second, and drops both for a retry", async () => {
    const { system, clock } = check.system()
    const commits: Array<ReadonlyArray<string>> = []
    const commit = ({ thread }: Conversation) => void commits.push(thread.messages.map(said))
    const parts = {
      adapter: check.fake({ scripts: [says("draft"), json, says("better"), json] }),
      options: { ...twoPasses, structuredFinalizeNudge: "Now" }
    }
    const { pid, send, snapshot } = startChat(system, parts, { commit })
    for (const turn of [turnOf(parts, hi), turnOf(parts, [], { retry: true })]) {
      turn.outlet.drive(() => {})
      send(turn)
      await clock.advance(0)
    }
    expect(commits).toEqual([
      ["hi"],
      ["hi", "draft", "Now"],
      ["hi", "draft", "Now", '{"a":1}'],
      ["hi"],
      ["hi", "better", "Now"],
      ["hi", "better", "Now", '{"a":1}']
    ])
    expect(snapshot().value).toBe("idle")
    Process.kill(pid)
  })

  test("cancelled in the second, it says how the first ended", async () => {
    const { system, clock } = check.system()
    const parts = { adapter: check.fake({ scripts: [says("draft"), [{ hang: true }]] }), options: twoPasses }
    const { pid, send, result } = startChat(system, parts)
    const turn = turnOf(parts, hi)
    turn.outlet.drive(() => {})
    send(turn)
    await clock.advance(0)
    Process.send(pid, { type: "turn.cancel" })
    await clock.advance(0)
    expect(result()).toMatchObject({
      haltedReason: "cancelled",
      metadata: { structuredFinalize: { pass1Halted: "completed" } }
    })
    Process.kill(pid)
  })
})
