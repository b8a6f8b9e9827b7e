import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import * as ToolRunner from "../../src/session/ToolRunner.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi, said, says } from "../double/scripts.ts"
import { timedCalls, timedTools } from "../double/timedTools.ts"
import type { Tool } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const run = async (
  toolCalls: ReadonlyArray<ToolCall>,
  options: Pick<ChatOptions, "schedule" | "haltOrder" | "maxConcurrency" | "onToolError"> = { schedule: "effects" },
  more: ReadonlyArray<Tool> = []
) => {
  const { system, clock } = check.system()
  const { tools, runs } = timedTools(clock)
  const running = ToolRunner.runToolCalls(toolCalls, [...tools, ...more], { ...options, system })
  const { messages, halt } = await clock.run(running)
  return { runs: runs(), messages, halt, outcomes: messages.map(({ outcome }) => outcome) }
}

describe("SCHED1 under `effects`", () => {
  test("reads run together and writes one after another, in call order", async () => {
    expect((await run(timedCalls("r30", "r10", "w20", "w10", "r5"))).runs).toEqual([
      "r30 0-30",
      "r10 0-10",
      "w20 30-50",
      "w10 50-60",
      "r5 60-65"
    ])
  })

  test("writes of different keys overlap, those of equal keys never, whichever tool makes them", async () => {
    expect((await run(timedCalls("w30a", "w10b", "w20a", "r5b"))).runs).toEqual([
      "w30a 0-30",
      "w10b 0-10",
      "r5b 10-15",
      "w20a 30-50"
    ])
  })

  test("at most `maxConcurrency` calls run at once, and what may start later waits for its turn only", async () => {
    const { runs } = await run(timedCalls("r10", "r10", "r10", "w5a", "w6b"), {
      schedule: "effects",
      maxConcurrency: 2
    })
    expect(runs).toHaveLength(5)
    expect(runs.slice(0, 3)).toEqual(["r10 0-10", "r10 0-10", "r10 10-20"])
    expect(runs.slice(3)).toEqual(["w5a 20-25", "w6b 20-26"])
  })

  test("a call of no tool holds nobody up, and waits for nobody", async () => {
    const { system, clock } = check.system()
    const { tools, runs } = timedTools(clock)
    const [first, last] = timedCalls("r10", "r5").map(({ id, name, arguments: args }) => ({
      toolCall: { id, name, arguments: args ?? {} }
    }))
    if (first === undefined || last === undefined) throw new Error("no calls")
    const unknown = { toolCall: { id: "x", name: "ghost" } }
    const adapter = check.fake({ scripts: [[first, unknown, last, { finish: "tool_calls" }], says("done")] })
    const options = { schedule: "effects", onUnknownTool: "continue", system } as const
    const { steps } = await clock.run(Chat.run(Engine.make({ adapter, tools }), hi, options))
    expect(runs()).toEqual(["r10 0-10", "r5 0-5"])
    expect(steps[0]?.toolResults.map(({ outcome }) => outcome)).toEqual(["completed", "not_found", "completed"])
  })

  test("arguments that do not fit have no key, and the call says what is wrong with them", async () => {
    const keyed = tool({
      name: "keyed",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      key: ({ path }) => String(path),
      execute: () => 1
    })
    const calls = [
      { id: "1", name: "keyed", arguments: { path: 7 } },
      { id: "2", name: "keyed", arguments: null, rawArguments: "{" }
    ]
    expect((await run(calls, undefined, [keyed])).outcomes).toEqual(["invalid", "invalid"])
  })

  test("a key sees the arguments as the schema makes them", async () => {
    const keys: Array<unknown> = []
    const keyed = make({
      name: "keyed",
      key: (args) => {
        keys.push(args)
        return undefined
      },
      handler: () => ok(1)
    })
    await run([{ id: "1", name: "keyed", arguments: { path: "a" } }], undefined, [keyed])
    expect(keys).toEqual([{ path: "a" }])
  })

  test("a call whose key throws, or is no text, fails without having run; its siblings run", async () => {
    const ran: Array<string> = []
    const bad = (name: string, key: () => string) =>
      make({
        name,
        key,
        handler: () => {
          ran.push(name)
          return ok(1)
        }
      })
    const throwing = bad("throwing", () => {
      throw new Error("no key")
    })
    const number = bad("number", () => 7 as never)
    const later = bad("later", () => Promise.reject(new Error("late")) as never)
    const calls = ["throwing", "number", "later"].map((name) => ({ id: name, name, arguments: {} }))
    const { messages, outcomes } = await run([...calls, ...timedCalls("w5")], undefined, [throwing, number, later])
    expect(messages.map(({ content }) => content)).toEqual([
      '{"error":"handler_raised: the key of throwing raised: no key"}',
      expect.stringContaining("invalid_return: the key of number is 7"),
      expect.stringContaining("invalid_return: the key of later is "),
      "w5"
    ])
    expect(outcomes).toEqual(["failed", "failed", "failed", "completed"])
    expect(ran).toEqual([])
  })
})

test("SCHED2 under `reference` writes run first, in call order, keys or not, then the reads together", async () => {
  const { runs, messages } = await run(timedCalls("r10", "w20a", "r5", "w10b"), { schedule: "reference" })
  expect(runs).toEqual(["w20a 0-20", "w10b 20-30", "r10 30-40", "r5 30-35"])
  expect(messages.map(({ toolCallId }) => toolCallId)).toEqual(["r10", "w20a", "r5", "w10b"])
})

test("SCHED3 under `concurrent`, the default of functions, all run at once, and no key is asked for", async () => {
  let asked = 0
  const keyed = make({
    name: "keyed",
    key: () => {
      asked++
      return "a"
    },
    handler: () => ok(1)
  })
  const calls = [...timedCalls("w10", "r5", "w7"), { id: "k", name: "keyed", arguments: {} }]
  expect((await run(calls, {}, [keyed])).runs).toEqual(["w10 0-10", "r5 0-5", "w7 0-7"])
  expect(asked).toBe(0)
})

describe("SCHED8", () => {
  test("behind a write's halt nothing starts, and the model reads so; what ran before counts", async () => {
    const { runs, messages, halt } = await run(timedCalls("w5", "w10!halt", "w7", "r3"))
    expect(runs).toEqual(["w5 0-5", "w10!halt 5-15"])
    expect(messages.map(({ outcome }) => outcome)).toEqual(["completed", "completed", "not_started", "not_started"])
    expect(messages[2]?.content).toBe('{"error":"cancelled: not started: the batch was ended before it began"}')
    expect(halt).toMatchObject({ type: "halt", reason: "enough" })
  })

  test("running siblings of a halt drain, and calls before it still start", async () => {
    const { runs, outcomes } = await run(timedCalls("w30a", "w5a", "w10b!halt", "w7b", "w8c"))
    expect(runs).toEqual(["w30a 0-30", "w10b!halt 0-10", "w8c 0-8", "w5a 30-35"])
    expect(outcomes).toEqual(["completed", "completed", "completed", "not_started", "completed"])
  })

  test("of two halts the first in call order counts, whichever came first", async () => {
    const { halt } = await run(timedCalls("w30a!halt", "w10b!halt"))
    expect(halt).toMatchObject({ toolCallId: "w30a!halt" })
  })

  test.each([
    ["call", "w30a!halt"],
    ["observed", "w10b!ask"]
  ] as const)(
    "SCHED8 of a halt and an earlier question, with `haltOrder: %s`, %s counts",
    async (haltOrder, counts) => {
      const { halt, outcomes } = await run(timedCalls("w30a!halt", "w10b!ask"), { schedule: "effects", haltOrder })
      expect(halt).toMatchObject({ toolCallId: counts })
      expect(outcomes).toEqual(["completed", "completed"])
    }
  )

  test("under `reference` nothing starts after a halt, wherever it stands", async () => {
    const { runs, outcomes } = await run(timedCalls("r5", "w10!halt", "w7"), { schedule: "reference" })
    expect(runs).toEqual(["w10!halt 0-10"])
    expect(outcomes).toEqual(["not_started", "completed", "not_started"])
  })

  test("under `concurrent` a halt skips none", async () => {
    const { outcomes } = await run(timedCalls("w10!halt", "w7", "r3"), { schedule: "concurrent", maxConcurrency: 1 })
    expect(outcomes).toEqual(["completed", "completed", "completed"])
  })

  test("a question skips none: what was asked for beside it is done", async () => {
    const { outcomes, halt } = await run(timedCalls("w10!ask", "w7"))
    expect(outcomes).toEqual(["completed", "completed"])
    expect(halt).toMatchObject({ type: "question" })
  })

  test("a failure that `onToolError` makes a halt is one", async () => {
    const calls = timedCalls("w10!fail", "w7")
    expect((await run(calls, { schedule: "effects", onToolError: "halt" })).outcomes).toEqual(["failed", "not_started"])
    expect((await run(calls, { schedule: "effects" })).outcomes).toEqual(["failed", "completed"])
  })
})

test("BATCH1 two calls of one id each have their own outcome, in their own position", async () => {
  const twins = timedCalls("r10", "w5").map((call) => ({ ...call, id: "same" }))
  const { messages, runs } = await run([...twins, { id: "same", name: "ghost", arguments: {} }], undefined, [
    make({ name: "ghost" })
  ])
  expect(runs).toEqual(["same 0-10", "same 10-15"])
  expect(messages.map((message) => `${message.outcome} ${said(message)}`)).toEqual([
    "completed same",
    "completed same",
    expect.stringContaining("not_found")
  ])
})
