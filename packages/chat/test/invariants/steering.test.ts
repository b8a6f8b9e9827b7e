import { describe, expect, test } from "vitest"
import { ok } from "../../src/values/HandlerResult.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { userLines } from "../double/heldModel.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { calls, handling, said, says } from "../double/scripts.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A chat with these options whose model is answered by hand, and a turn that runs. */
const running = async (options: Partial<TroupeOptions>) => {
  const adapter = handAdapter()
  const { troupe, clock } = await check.troupe({ adapter, ...options })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  const opened = (count: number) => until(() => adapter.streams.length === count)
  await opened(1)
  const answer = async (index: number, text: string, totalTokens = 1) => {
    await opened(index + 1)
    adapter.streams[index]?.say({ type: "raw_chunk", chunk: { type: "usage", usage: { totalTokens } } })
    adapter.streams[index]?.text(text)
    adapter.streams[index]?.finish("stop")
  }
  return { adapter, chat, turn, opened, answer, clock }
}

describe("CHAT7 with two passes, an input that steers", () => {
  const responseFormat = { type: "json_schema", name: "answer", schema: { type: "object" } } as const
  const twoPasses = { structuredFinalize: true, responseFormat } as const
  const nudge = "Now provide your final structured response."

  test("joins the first, and the second follows on what that comes to", async () => {
    const { adapter, chat, turn, answer } = await running(twoPasses)
    const steer = chat.send("and this", { whenBusy: "steer" })
    await answer(0, "one")
    await answer(1, "two")
    await answer(2, "{}")
    const result = await turn.result()
    expect(await steer.result()).toBe(result)
    expect(result.thread.messages.map(said)).toEqual(["go", "one", "and this", "two", nudge, "{}"])
    expect(adapter.streams.map(({ request }) => request.responseFormat)).toEqual([undefined, undefined, responseFormat])
  })

  test("does not join the second: it is a turn of its own, in two passes too", async () => {
    const { chat, turn, opened, answer } = await running(twoPasses)
    await answer(0, "one")
    await opened(2)
    const steer = chat.send("and this", { whenBusy: "steer" })
    await answer(1, "{}")
    expect((await turn.result()).thread.messages.map(said)).toEqual(["go", "one", nudge, "{}"])
    await answer(2, "two")
    await answer(3, "[]")
    const result = await steer.result()
    expect(result.steps).toHaveLength(2)
    expect(userLines(result.thread.messages)).toEqual(["go", nudge, "and this", nudge])
  })
})

describe("CHAT7 with a budget, an input that steers", () => {
  test("does not keep a turn going whose tokens are used up: it is queued", async () => {
    const { chat, turn, answer } = await running({ budget: { tokens: 100 } })
    const first = chat.send("a", { whenBusy: "steer" })
    await answer(0, "one", 60)
    await first.delivery
    const second = chat.send("b", { whenBusy: "steer" })
    await answer(1, "two", 60)
    const result = await turn.result()
    expect([result.haltedReason, result.steps.length]).toEqual(["completed", 2])
    await answer(2, "three")
    expect((await second.result()).steps).toHaveLength(1)
    expect(userLines(chat.thread.messages)).toEqual(["go", "a", "b"])
  })

  test("does not join a turn whose time is over: it is queued, and has time of its own", async () => {
    const { chat, turn, opened, answer, clock } = await running({ budget: { timeMs: 100 }, drainMs: 10 })
    const first = chat.send("a", { whenBusy: "steer" })
    await clock.advance(60)
    await answer(0, "one")
    await opened(2)
    const second = chat.send("b", { whenBusy: "steer" })
    await hop()
    await clock.advance(39)
    expect(turn.over).toBe(false)
    await clock.advance(1)
    const result = await turn.result()
    expect(result.haltedReason).toBe("budget_time")
    expect(await first.result()).toBe(result)
    await opened(3)
    await clock.advance(99)
    expect(second.over).toBe(false)
    await answer(2, "two")
    expect((await second.result()).haltedReason).toBe("completed")
    expect(clock.pending).toBe(0)
  })
})

describe("a turn that waits to send its request again", () => {
  const refused = [{ preflightError: "rate_limited", retryAfterMs: 1e6 }] as const
  const waiting = async (options: Partial<TroupeOptions> = {}) => {
    const adapter = check.fake({ scripts: [refused, says("yes"), says("also")] })
    const { troupe, clock } = await check.troupe({
      adapter,
      retry: { baseDelayMs: 1e6, maxDelayMs: 1e6, maxRetryAfterMs: 1e6, maxAttempts: 3 },
      ...options
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await clock.advance(0)
    expect(adapter.requests).toHaveLength(1)
    return { chat, turn, clock, adapter }
  }

  test("CHAT8 is cancelled by an interrupt, which asks anew", async () => {
    const { chat, turn, clock } = await waiting()
    const queued = chat.send("later")
    const now = chat.send("now", { whenBusy: "interrupt" })
    await clock.advance(0)
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(said((await now.result()).thread.messages.at(-1))).toBe("yes")
    expect(said((await queued.result()).thread.messages.at(-1))).toBe("also")
    expect(clock.pending).toBe(0)
  })

  test("CHAT7 CHAT6 takes no steering meanwhile, and ends with its time", async () => {
    const { chat, turn, clock } = await waiting({ budget: { timeMs: 100 } })
    const steer = chat.send("and this", { whenBusy: "steer" })
    expect(await steer.receipt).toEqual({ status: "pending" })
    await clock.advance(100)
    expect((await turn.result()).haltedReason).toBe("budget_time")
    await clock.advance(0)
    expect((await steer.result()).haltedReason).toBe("completed")
    expect(userLines(chat.thread.messages)).toEqual(["go", "and this"])
  })
})

test("CHAT6 CHAT7 an input that began to steer when the time was over goes back when the store gives no answer, and is queued", async () => {
  const gate = Promise.withResolvers<unknown>()
  const wait = handling("wait", () => gate.promise.then(() => ok(1)))
  const adapter = check.fake({ scripts: [calls("wait"), says("own")] })
  let hanging: ((value: void) => void) | undefined
  let mustHang = false
  const save = () => (mustHang ? new Promise<void>((resolve) => (hanging = resolve)) : undefined)
  const store = { load: () => undefined, save, delete: () => undefined }
  const { troupe, clock } = await check.troupe({ adapter, tools: [wait], store, budget: { timeMs: 100 }, drainMs: 20 })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  const steer = chat.send("and this", { whenBusy: "steer" })
  expect(await steer.receipt).toEqual({ status: "pending" })
  mustHang = true
  gate.resolve(undefined)
  await until(() => hanging !== undefined)
  expect(userLines(chat.thread.messages)).toEqual(["go", "and this"])
  await clock.advance(120)
  expect(userLines(chat.thread.messages)).toEqual(["go"])
  mustHang = false
  hanging?.()
  await until(() => turn.over)
  expect((await turn.result()).haltedReason).toBe("budget_time")
  expect((await steer.result()).haltedReason).toBe("completed")
  expect([await steer.delivery, userLines(chat.thread.messages)]).toEqual([{ status: "delivered" }, ["go", "and this"]])
})

describe("CHAT7 an input that steers a turn that begins with a decision", () => {
  const deciding = async (...called: ReadonlyArray<"pay" | "manual">) => {
    const store = memory()
    const pay = handling("pay", () => ok("paid"))
    const { troupe, clock } = await check.troupe({
      adapter: check.fake({ scripts: [calls(...called), says("thanks"), says("again")] }),
      store,
      tools: [pay, make({ name: "manual", manual: true })],
      permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") },
      suspendedTtlMs: 1_000
    })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    const decided = chat.approve("c0", { type: "allow" })
    const steer = chat.send("and this", { whenBusy: "steer" })
    await decided.result()
    return { troupe, clock, chat, decided, steer }
  }

  test("joins it behind the results of the calls", async () => {
    const { decided, steer } = await deciding("pay")
    const result = await steer.result()
    expect(result).toBe(await decided.result())
    expect(result.thread.messages.map(said)).toEqual(["go", "", "paid", "and this", "thanks"])
  })

  test("waits for the results of the caller, so that the conversation can be loaded when that wait expires", async () => {
    const { troupe, clock, chat, steer } = await deciding("pay", "manual")
    expect(steer.status).toBe("pending")
    await clock.advance(1_000)
    await steer.result()
    await chat.stop()
    const { messages } = (await troupe.chat("c")).thread
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user", "assistant"])
  })
})
