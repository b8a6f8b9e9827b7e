import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import { ToolError } from "../../src/errors/ChatError.ts"
import { error, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { Deadlines } from "../../src/call/deadlines.ts"
import { make } from "../../src/tool/Tool.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, said } from "../double/scripts.ts"
import type { Tool, ToolContext } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const call = { id: "c0", name: "t", arguments: { ms: 7 } }

const counting = (totalMs: number, idleMs: number) => {
  const clock = Clock.test()
  const missed: Array<string> = []
  const deadlines = new Deadlines(
    clock,
    { totalMs, idleMs },
    {
      passed: (what) => void missed.push(`${clock.now()}: ${what}`)
    }
  )
  return { clock, missed, deadlines }
}

test("DEADLINE1 the total counts from the start, whatever is touched", async () => {
  const { clock, missed, deadlines } = counting(100, Infinity)
  await clock.advance(99)
  deadlines.touch()
  expect(missed).toEqual([])
  await clock.advance(1_000)
  expect(missed).toEqual(["100: no result within 100 ms"])
})

test("DEADLINE1 the idle one counts from the last touch, and passes once", async () => {
  const { clock, missed, deadlines } = counting(Infinity, 10)
  for (let touch = 0; touch < 3; touch++) {
    await clock.advance(9)
    deadlines.touch()
  }
  expect(missed).toEqual([])
  await clock.advance(1_000)
  expect(missed).toEqual(["37: neither a result nor progress for 10 ms"])
  deadlines.touch()
  await clock.advance(1_000)
  expect(missed).toHaveLength(1)
})

test("DEADLINE2 a thousand touches set no timer of their own", async () => {
  const { clock, deadlines } = counting(Infinity, 10)
  for (let touch = 0; touch < 1_000; touch++) deadlines.touch()
  expect(clock.pending).toBe(1)
  expect(counting(Infinity, Infinity).clock.pending).toBe(0)
  deadlines.clear()
})

test("DEADLINE1 after `clear` there is no timer, and a touch sets none", async () => {
  const { clock, missed, deadlines } = counting(10, 10)
  deadlines.clear()
  deadlines.touch()
  expect(clock.pending).toBe(0)
  await clock.advance(100)
  expect(missed).toEqual([])
})

/** Runs one call of a tool that never ends, for so long; answers its message, if it is over. */
const running = async (tool: Tool, options: ChatOptions, ms: number) => {
  const { system, clock } = check.system()
  const run = runToolCalls([call], [tool], { ...options, system })
  await clock.advance(ms)
  return (await run).messages.map((message) => [message.outcome, said(message)])
}

const never = () => new Promise<HandlerResult>(() => {})

test("a function of the options says the deadline of each call, and the tool's own comes first", async () => {
  const seen: Array<string> = []
  const toolTimeoutMs = ({ id, arguments: args }: { readonly id: string; readonly arguments: unknown }) => {
    seen.push(id)
    return (args as { readonly ms: number }).ms
  }
  expect(await running(handling("t", never), { toolTimeoutMs }, 7)).toEqual([
    ["timed_out", expect.stringContaining("no result within 7 ms")]
  ])
  expect(seen).toEqual(["c0"])
  const own = make({ name: "t", handler: never, timeoutMs: 3, idleTimeoutMs: 5 })
  expect(await running(own, { toolTimeoutMs, toolIdleTimeoutMs: 1 }, 3)).toEqual([
    ["timed_out", expect.stringContaining("no result within 3 ms")]
  ])
  expect(seen).toEqual(["c0"])
})

test("a call without any deadline is timed out after thirty seconds", async () => {
  expect(await running(handling("t", never), {}, 30_000)).toEqual([
    ["timed_out", expect.stringContaining("no result within 30000 ms")]
  ])
})

test("a call that says nothing for too long is timed out, one that goes on is not", async () => {
  const idle = { toolIdleTimeoutMs: 10, toolTimeoutMs: Infinity }
  expect(await running(handling("t", never), idle, 10)).toEqual([
    ["timed_out", expect.stringContaining("neither a result nor progress for 10 ms")]
  ])
  const { system, clock } = check.system()
  const pauseMs = 9
  const busy = handling("t", async (_args, { progress }: ToolContext) => {
    for (let round = 0; round < 5; round++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      clock.setTimeout(resolve, pauseMs)
      await promise
      progress(round)
    }
    return ok("done")
  })
  const run = runToolCalls([call], [busy], { ...idle, system })
  await clock.advance(45)
  expect((await run).messages.map(said)).toEqual(["done"])
})

test.each([
  [
    "raises",
    () => {
      throw new Error("no")
    }
  ],
  ["returns no milliseconds", () => NaN],
  ["returns a time before the start", () => -1]
])("a deadline that %s fails the call, and the handler does not start", async (_name, toolTimeoutMs) => {
  let ran = 0
  const tool = handling("t", () => ok(++ran))
  expect(await running(tool, { toolTimeoutMs }, 0)).toEqual([["failed", expect.stringContaining("toolTimeoutMs")]])
  expect(ran).toBe(0)
})

test("`onToolTimeout` decides about deadlines, and about nothing else", async () => {
  const { system, clock } = check.system()
  const asked: Array<string> = []
  const options = {
    system,
    toolTimeoutMs: 5,
    onToolError: () => {
      asked.push("error")
      return { continue: "error policy" }
    },
    onToolTimeout: () => {
      asked.push("timeout")
      return { continue: "timeout policy" }
    }
  }
  const tools = [handling("t", never), handling("bad", () => error("bad"))]
  const run = runToolCalls([call, { id: "c1", name: "bad", arguments: {} }], tools, options)
  await clock.advance(5)
  expect((await run).messages).toMatchObject([
    { outcome: "timed_out", content: "timeout policy" },
    { outcome: "failed", content: "error policy" }
  ])
  expect(asked.toSorted()).toEqual(["error", "timeout"])
})

test("a deadline that has passed halts where `onToolTimeout` says so; without it `onToolError` decides", async () => {
  for (const options of [{ onToolTimeout: "halt" }, { onToolError: "halt" }] as const) {
    const { system, clock } = check.system()
    const run = runToolCalls([call], [handling("t", never)], { ...options, system, toolTimeoutMs: 5 })
    await clock.advance(5)
    expect((await run).halt).toMatchObject({ type: "tool_error", error: { reason: "timeout" } })
  }
})

test("a failure that the handler reports is a failure, whatever error it hands on", async () => {
  for (const reason of ["denied", "not_found", "invalid_arguments", "cancelled", "timeout"] as const) {
    const tool = handling("t", () => error(new ToolError(reason, { message: "of another call" })))
    expect(await running(tool, {}, 0)).toMatchObject([["failed", expect.stringContaining("of another call")]])
  }
})
