import { System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { hop, until } from "../double/hop.ts"
import { moodyStore } from "../double/heldModel.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { answersOf } from "../double/scenario.ts"
import { calls, handling, said, says } from "../double/scripts.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const ask = handling("ask", () => askUser("which?"))
const manual = make({ name: "manual", manual: true })

/** A chat that waits for the user, for tool results, or for both. */
const suspended = async (tools: ReadonlyArray<"ask" | "manual">, more: Partial<TroupeOptions> = {}) => {
  const adapter = check.fake({ scripts: [calls(...tools), says("thanks"), says("again")] })
  const store = memory()
  const made = await check.troupe({ adapter, tools: [ask, manual], store, ...more })
  const chat = await made.troupe.chat("c")
  await chat.send("go").result()
  await hop()
  return { adapter, store, chat, ...made }
}

describe("CHAT10 a chat at rest or suspended", () => {
  test.each([
    ["idle", [], "idle"],
    ["asking the user", ["ask"], "awaitingUser"],
    ["waiting for tool results", ["manual"], "awaitingTools"]
  ] as const)("holds no fiber and no timer: %s", async (_what, tools, phase) => {
    const { chat, system } = await suspended(tools)
    expect(chat.getSnapshot()?.context.phase).toBe(phase)
    const { fibers, timers } = System.stats(system)
    expect([fibers, timers]).toEqual([0, 0])
  })

  test.each([
    ["idle", [], 0],
    ["asking the user", ["ask"], 1],
    ["waiting for tool results", ["manual"], 1]
  ] as const)("holds one timer and no fiber with a time to live: %s", async (_what, tools, expected) => {
    const { system } = await suspended(tools, { suspendedTtlMs: 1_000 })
    const { fibers, timers } = System.stats(system)
    expect([fibers, timers]).toEqual([0, expected])
  })
})

describe("CHAT10 SUSP1 when the time to live is over", () => {
  test.each([
    ["a question", ["ask"]],
    ["calls of the caller", ["manual", "manual"]],
    ["both", ["ask", "manual"]]
  ] as const)("the chat is at rest and its thread has a result for every call: %s", async (_what, tools) => {
    const { adapter, chat, clock, store, system } = await suspended(tools, { suspendedTtlMs: 1_000 })
    await clock.advance(999)
    expect(chat.getSnapshot()?.value).not.toBe("idle")
    await clock.advance(1)
    const { context, value } = chat.getSnapshot() ?? {}
    expect([value, context?.phase, context?.lastHaltedReason]).toEqual(["idle", "idle", "expired"])
    expect([context?.pendingQuestion, context?.pendingToolCalls, context?.expiresAt]).toEqual([
      undefined,
      [],
      undefined
    ])
    expect([...answersOf(chat.thread.messages).values()]).toEqual(tools.map(() => 1))
    for (const message of chat.thread.messages.filter(({ role }) => role === "tool"))
      expect(said(message)).toContain("expired")
    expect(await store.load("c")).toMatchObject({
      thread: chat.thread,
      lastHaltedReason: "expired",
      pendingToolCalls: []
    })
    expect(System.stats(system).timers).toBe(0)
    expect((await chat.send("still there?").result()).haltedReason).toBe("completed")
    expect(adapter.requests).toHaveLength(2)
  })

  test("an answer in time stops the clock", async () => {
    const { chat, clock, system } = await suspended(["ask"], { suspendedTtlMs: 1_000 })
    await clock.advance(900)
    expect((await chat.send("this").result()).haltedReason).toBe("completed")
    expect(System.stats(system).timers).toBe(0)
    await clock.advance(5_000)
    expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("completed")
  })

  test("an answer too late is a message like any other", async () => {
    const { chat, clock } = await suspended(["manual"], { suspendedTtlMs: 1_000 })
    await clock.advance(1_000)
    expect(() => chat.submitToolResults({ c0: 1 })).toThrow("c0")
  })

  test("a time that is `Infinity` is none", async () => {
    const { chat, store } = await suspended(["ask"], { suspendedTtlMs: Infinity })
    expect(chat.getSnapshot()?.context.phase).toBe("awaitingUser")
    expect((await store.load("c"))?.expiresAt).toBeUndefined()
  })

  test("the deadline holds across a revival, also where the option is gone", async () => {
    const { chat, clock, store, troupe } = await suspended(["ask"], { suspendedTtlMs: 1_000 })
    await clock.advance(600)
    await chat.stop()
    const again = await troupe.chat("c")
    await clock.advance(399)
    expect(again.getSnapshot()?.value).toBe("awaitingUser")
    await clock.advance(1)
    expect(again.getSnapshot()?.value).toBe("idle")
    await again.stop()

    const record = await store.load("c")
    if (record === undefined) throw new Error("nothing was stored")
    await store.save({
      ...record,
      pendingQuestion: { question: "which?", toolCallId: "c0", options: {} },
      expiresAt: -1
    })
    const { troupe: other, clock: later } = await check.troupe({
      adapter: check.fake({ script: says("x") }),
      tools: [ask],
      store
    })
    const late = await other.chat("c")
    await later.advance(0)
    expect(late.getSnapshot()?.value).toBe("idle")
    expect(late.getSnapshot()?.context.lastHaltedReason).toBe("expired")
  })

  test("what was queued while the chat waited for its tools runs", async () => {
    const adapter = check.fake({ scripts: [calls("manual"), says("late")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [manual], suspendedTtlMs: 1_000 })
    const chat = await troupe.chat("c")
    const [first, second] = [chat.send("go"), chat.send("more")]
    await first.result()
    await clock.advance(1_000)
    expect((await second.result()).haltedReason).toBe("completed")
  })

  test("a store that fails then does not keep the chat from being at rest", async () => {
    const store = moodyStore()
    const { chat, clock } = await suspended(["ask"], { suspendedTtlMs: 1_000, store })
    store.failing = true
    await clock.advance(1_000)
    expect(chat.getSnapshot()?.value).toBe("idle")
    store.failing = false
    await chat.send("go on").result()
    expect(store.saved.at(-1)?.lastHaltedReason).toBe("completed")
    expect(store.saved.at(-1)?.expiresAt).toBeUndefined()
  })
})

describe("MAIL4 an answer that was sent behind a message, while a turn ran", () => {
  /** A chat whose turn runs the call `pay`, after a decision; the call `manual` beside it waits for its result. */
  const deciding = async () => {
    const gate = Promise.withResolvers<undefined>()
    let isPaying = false
    const pay = handling("pay", async () => {
      isPaying = true
      await gate.promise
      return ok("paid")
    })
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("pay", "manual"), says("thanks"), says("again")] }),
      tools: [pay, manual],
      permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
    })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    const decided = chat.approve("c0", { type: "allow" })
    await until(() => isPaying)
    return { chat, decided, finish: () => gate.resolve(undefined) }
  }

  test("runs before the message, which waits for it", async () => {
    const { chat, decided, finish } = await deciding()
    const message = chat.send("And?")
    await message.receipt
    const results = chat.submitToolResults({ c1: "here" })
    await hop()
    finish()
    expect((await decided.result()).haltedReason).toBe("manual_tool_calls")
    expect((await results.result()).haltedReason).toBe("completed")
    expect((await message.result()).haltedReason).toBe("completed")
    expect(chat.thread.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user",
      "assistant"
    ])
  })

  test("is refused like any other when it does not fit, and the message still waits", async () => {
    const { chat, decided, finish } = await deciding()
    const message = chat.send("And?")
    await message.receipt
    const retried = chat.retry()
    await hop()
    finish()
    await decided.result()
    await expect(retried.result()).rejects.toMatchObject({ reason: "awaiting_tool_results" })
    expect([message.status, message.over]).toEqual(["pending", false])
    await chat.submitToolResults({ c1: "here" }).result()
    expect((await message.result()).haltedReason).toBe("completed")
  })
})

describe("SUSP1 `answer`", () => {
  test('`"tool_result"` puts the answer into the call\'s result', async () => {
    const { adapter, chat } = await suspended(["ask"], { answer: "tool_result" })
    expect(chat.thread.messages.map(said)).toEqual(["go", "", "<awaiting user response>", "which?"])
    const turn = chat.send("this one")
    const result = await turn.result()
    expect(await turn.receipt).toEqual({ status: "delivered" })
    expect(result.thread.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "go"],
      ["assistant", ""],
      ["tool", "this one"],
      ["assistant", "thanks"]
    ])
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "c0", content: "this one" })
    expect((await chat.send("and").result()).thread.messages.at(-2)).toMatchObject({ role: "user", content: "and" })
  })

  test('`"user_message"`, the default, puts it behind the question', async () => {
    const { chat } = await suspended(["ask"])
    const result = await chat.send("this one").result()
    expect(result.thread.messages.map(said)).toEqual([
      "go",
      "",
      "<awaiting user response>",
      "which?",
      "this one",
      "thanks"
    ])
  })

  test("QANSW1 where the result has the answer already, what is said next is a message", async () => {
    const adapter = check.fake({ scripts: [calls("ask"), [{ hang: true }], says("thanks")] })
    const { troupe } = await check.troupe({ adapter, tools: [ask], answer: "tool_result" })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    const answering = chat.send("this one")
    await until(() => adapter.requests.length === 2)
    await chat.cancel()
    expect((await answering.result()).thread.messages.map(said)).toEqual(["go", "", "this one"])
    expect(chat.getSnapshot()?.context.phase).toBe("awaitingUser")
    const { thread } = await chat.send("and that").result()
    expect(thread.messages.map(said)).toEqual(["go", "", "this one", "and that", "thanks"])
  })

  test("an answer that the store did not take leaves the question as it was", async () => {
    const store = moodyStore()
    const { chat } = await suspended(["ask"], { answer: "tool_result", store })
    const before = chat.thread
    store.failing = true
    expect((await chat.send("this one").result()).haltedReason).toBe("error")
    expect([chat.thread, chat.getSnapshot()?.value]).toEqual([before, "awaitingUser"])
    store.failing = false
    expect((await chat.retry().result()).thread.messages.map(said)).toEqual(["go", "", "this one", "thanks"])
  })
})

test("options of the wrong kind are refused", async () => {
  const text: unknown = "60000"
  for (const options of [
    { suspendedTtlMs: 0 },
    { suspendedTtlMs: Number.NaN },
    { suspendedTtlMs: text as number },
    { maxSeconds: text as number },
    { name: 5 as unknown as string },
    { answer: "somewhere" }
  ]) {
    const adapter = check.fake({ script: [] })
    await expect(check.troupe({ adapter, ...options } as unknown as TroupeOptions)).rejects.toBeInstanceOf(
      ValidationError
    )
  }
})
