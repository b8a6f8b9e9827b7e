import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, halt } from "../../src/values/HandlerResult.ts"
import type { Usage } from "../../src/model/Usage.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, handling, hi, only, readAll, says } from "../double/scripts.ts"
import { type Parts, startChat, turnOf } from "../double/stepping.ts"
import type { Budget } from "../../src/options/ChatOptions.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const using = (...usages: ReadonlyArray<Usage>): ReadonlyArray<Script> =>
  usages.map((usage) => [{ usage }, ...calls("echo")])

const run = async (scripts: ReadonlyArray<Script>, budget: Budget, more: object = {}) => {
  const engine = () => Engine.make({ adapter: check.fake({ scripts }), tools: [echo] })
  const options = { budget, requestId: "r", ...more }
  const result = await Chat.run(engine(), hi, options)
  const events = await readAll(await Chat.stream(engine(), hi, options))
  expect(only(events, "chat_completed").result).toEqual(result)
  return result
}

describe("a budget", () => {
  test("of tokens ends the turn after the step that used it up", async () => {
    const usages = [{ inputTokens: 30, outputTokens: 10 }, { totalTokens: 60 }, { totalTokens: 1 }]
    const result = await run(using(...usages), { tokens: 100 })
    expect(result).toMatchObject({ haltedReason: "budget_tokens", metadata: { budget: 100, spent: 100 } })
    expect(result.steps).toHaveLength(2)
    expect([result.usage?.inputTokens, result.usage?.totalTokens, result.cost]).toEqual([30, 60, undefined])
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "tool" })
  })

  test("of cost as well; of two that are used up the tokens are named", async () => {
    const scripts = using({ totalCost: 1, totalTokens: 10 }, { inputCost: 0.5, outputCost: 0.75 })
    expect(await run(scripts, { cost: 2 })).toMatchObject({
      haltedReason: "budget_cost",
      metadata: { budget: 2, spent: 2.25 }
    })
    expect(await run(scripts, { cost: 1, tokens: 10 })).toMatchObject({ haltedReason: "budget_tokens" })
  })

  test("says nothing against a final answer, nor before haltWhen and maxTurns", async () => {
    const answer: Script = [{ usage: { totalTokens: 9 } }, { text: "x" }, { finish: "stop" }]
    expect((await run([answer], { tokens: 1 })).haltedReason).toBe("completed")
    const scripts = using({ totalTokens: 9 })
    expect((await run(scripts, { tokens: 1 }, { maxTurns: 1 })).haltedReason).toBe("max_turns")
    expect((await run(scripts, { tokens: 1 }, { haltWhen: () => true })).haltedReason).toBe("halt_when")
  })

  test("that nobody reports usage for is not used up", async () => {
    expect((await run([calls("echo"), says("done")], { tokens: 1, cost: 1 })).haltedReason).toBe("completed")
  })

  test.each([{ tokens: 0 }, { cost: -1 }, { timeMs: Number.NaN }, { turns: 1 }, 5])(
    "that is none is refused: %o",
    async (budget) => {
      await expect(run([], budget as Budget)).rejects.toMatchObject({ reason: "invalid_options" })
    }
  )

  test.each(["budget_tokens", "budget_cost", "budget_time"])("%s is no reason for a handler", async (reason) => {
    const tools = [handling("t", () => halt(reason))]
    const engine = Engine.make({ adapter: check.fake({ scripts: [calls("t"), says("done")] }), tools })
    expect((await Chat.run(engine, hi)).haltedReason).toBe("completed")
  })
})

/** A turn of a living chat on a clock that stands still. */
const turning = (parts: Parts, more: Parameters<typeof startChat>[2] = {}) => {
  const { system, clock } = check.system()
  const chat = startChat(system, parts, more)
  const start = () => {
    const turn = turnOf(parts, hi)
    turn.outlet.drive(() => {})
    chat.send(turn)
  }
  start()
  return { ...chat, clock, start }
}

describe("CHAT6 a time budget", () => {
  const options = { budget: { timeMs: 100 }, drainMs: 20 }

  test("ends a request that hangs, at the deadline", async () => {
    const adapter = check.fake({ script: [{ text: "a" }, { hang: true }] })
    const { clock, pid, result } = turning({ adapter, options })
    await clock.advance(99)
    expect(result()).toBeUndefined()
    await clock.advance(1)
    expect(result()).toMatchObject({ haltedReason: "budget_time", metadata: { budget: 100 } })
    expect(result()?.thread.messages.at(-1)).toMatchObject({ content: "a" })
    expect(clock.pending).toBe(0)
    Process.kill(pid)
  })

  test("ends the wait before a retry", async () => {
    const adapter = check.fake({ script: [{ preflightError: "rate_limited", retryAfterMs: 6e4 }] })
    const { clock, pid, result } = turning({ adapter, options })
    await clock.advance(100)
    expect(result()).toMatchObject({ haltedReason: "budget_time" })
    expect(clock.pending).toBe(0)
    Process.kill(pid)
  })

  test("ends tools that hang, within the drain deadline, and each call is answered", async () => {
    const hanging = handling("hanging", () => new Promise(() => {}))
    const adapter = check.fake({ script: calls("hanging", "hanging") })
    const { clock, pid, result } = turning({ adapter, tools: [hanging], options })
    await clock.advance(119)
    expect(result()).toBeUndefined()
    await clock.advance(1)
    expect(result()).toMatchObject({ haltedReason: "budget_time", steps: [{ toolResults: [{}, {}] }] })
    Process.kill(pid)
  })

  test("keeps a question that was asked in time", async () => {
    const tools = [handling("ask", () => askUser("which?")), handling("hanging", () => new Promise(() => {}))]
    const adapter = check.fake({ script: calls("ask", "hanging") })
    const { clock, pid, snapshot, result } = turning({ adapter, tools, options })
    await clock.advance(200)
    expect(result()).toMatchObject({ haltedReason: "budget_time", pendingQuestion: { question: "which?" } })
    expect(snapshot().value).toBe("awaitingUser")
    Process.kill(pid)
  })

  test("does not wait for a store longer than the drain deadline", async () => {
    const adapter = check.fake({ script: says("never") })
    const { clock, pid, result } = turning({ adapter, options }, { commit: () => new Promise(() => {}) })
    await clock.advance(120)
    expect(result()).toMatchObject({ haltedReason: "budget_time", steps: [] })
    await clock.advance(20)
    expect(adapter.requests).toHaveLength(0)
    Process.kill(pid)
  })

  test("is each turn's own, and leaves no timer when the turn ends in time", async () => {
    const adapter = check.fake({ scripts: [says("quick"), [{ hang: true }], says("quick")] })
    const { clock, pid, result, start } = turning({ adapter, options })
    await clock.advance(60)
    expect([result()?.haltedReason, clock.pending]).toEqual(["completed", 0])
    start()
    await clock.advance(99)
    expect(result()).toBeUndefined()
    await clock.advance(1)
    expect(result()?.haltedReason).toBe("budget_time")
    start()
    await clock.advance(0)
    expect([result()?.haltedReason, clock.pending]).toEqual(["completed", 0])
    Process.kill(pid)
  })

  test("a cancel is a cancel, even after the deadline", async () => {
    const hanging = handling("hanging", () => new Promise(() => {}))
    const { clock, pid, result } = turning({
      adapter: check.fake({ script: calls("hanging") }),
      tools: [hanging],
      options
    })
    await clock.advance(110)
    Process.send(pid, { type: "turn.cancel" })
    await clock.advance(10)
    expect(result()?.haltedReason).toBe("cancelled")
    Process.kill(pid)
  })
})
