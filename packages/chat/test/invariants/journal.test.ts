import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { askUser, halt, ok } from "../../src/values/HandlerResult.ts"
import type { ToolMessage } from "../../src/model/messageShapes.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { diskStore } from "../double/crashing.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, readAll, says } from "../double/scripts.ts"
import type { OnUnknown, Tool } from "../../src/tool/toolContract.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

/** A tool whose runs the test counts and ends. */
const held = (name: string, more: Partial<Tool> = {}) => {
  const gates: Array<PromiseWithResolvers<unknown>> = []
  const keys: Array<string> = []
  const tool: Tool = {
    ...make({
      name,
      handler: async (_args, { idempotencyKey }) => {
        const gate = Promise.withResolvers<unknown>()
        gates.push(gate)
        keys.push(idempotencyKey)
        return ok(await gate.promise)
      }
    }),
    ...more
  }
  return { tool, gates, keys }
}

const outcomes = (record: { readonly thread: Conversation["thread"] } | undefined) =>
  (record?.thread.messages ?? [])
    .filter((message): message is ToolMessage => message.role === "tool")
    .map(({ toolCallId, outcome }) => `${toolCallId} ${outcome}`)

const states = (record: Conversation | undefined) => record?.open?.calls.map(({ state }) => state)

describe("the journal of a step", () => {
  test("JOUR1 the intent of a call that writes is kept before its handler starts", async () => {
    const charge = held("charge")
    const saving = Promise.withResolvers<void>()
    const store = diskStore(undefined, (count) => (count === 2 ? saving.promise : undefined))
    const adapter = check.fake({ scripts: [calls("charge"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [charge.tool], store })
    const turn = (await troupe.chat("c")).send("go")
    await until(() => store.saves === 2)
    expect(charge.gates).toHaveLength(0)
    saving.resolve()
    await until(() => charge.gates.length === 1)
    expect(states(store.record())).toEqual(["intended"])
    expect(store.record()?.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
    charge.gates[0]?.resolve("ok")
    await turn.result()
    expect(store.record()?.open).toBeUndefined()
    expect(outcomes(store.record())).toEqual(["c0 completed"])
  })

  test("JOUR1 intents of calls that start together are kept by one save", async () => {
    const charge = held("charge")
    const store = diskStore()
    const adapter = check.fake({ scripts: [calls("charge", "charge", "charge"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [charge.tool], store, schedule: "concurrent" })
    const turn = (await troupe.chat("c")).send("go")
    await until(() => charge.gates.length === 3)
    expect(store.saves).toBe(2)
    for (const gate of charge.gates) gate.resolve(1)
    await turn.result()
  })

  test("JOUR1 a store that refuses an intent: the call is not started, and the turn ends with the error of the store", async () => {
    const charge = held("charge")
    const inner = memory()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: (record) => (++saves === 2 ? Promise.reject(new Error("disk")) : inner.save(record))
    }
    const adapter = check.fake({ scripts: [calls("charge", "charge"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [charge.tool], store })
    const result = await (await troupe.chat("c")).send("go").result()
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "store_failed" } } })
    expect(outcomes(result)).toEqual(["c0 not_started", "c1 not_started"])
    expect(charge.gates).toHaveLength(0)
  })

  test("JOUR1 a store that hangs at an intent does not hang the chat: a cancel ends the turn within the drain deadline", async () => {
    const charge = held("charge")
    const inner = memory()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: (record) => (++saves >= 2 ? new Promise(() => {}) : inner.save(record))
    }
    const adapter = check.fake({ scripts: [calls("charge")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [charge.tool], store, drainMs: 10 })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => saves === 2)
    const cancelled = chat.cancel()
    await until(() => chat.getSnapshot()?.context.steps.length === 1)
    await clock.advance(10)
    await clock.advance(10)
    await cancelled
    const result = await turn.result()
    expect(result.haltedReason).toBe("cancelled")
    expect(outcomes(result)).toEqual(["c0 cancelled"])
    expect(charge.gates).toHaveLength(0)
  })

  test("JOUR1 a store that hangs at an intent is waited for five seconds, then the turn ends with its error", async () => {
    const charge = held("charge")
    const inner = memory()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: (record) => (++saves === 2 ? new Promise(() => {}) : inner.save(record))
    }
    const adapter = check.fake({ scripts: [calls("charge")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [charge.tool], store })
    const turn = (await troupe.chat("c")).send("go")
    await until(() => saves === 2)
    await clock.advance(5_000)
    expect(await turn.result()).toMatchObject({ metadata: { error: { reason: "store_failed" } } })
    expect(charge.gates).toHaveLength(0)
  })

  test("JOUR3 an input that is stored meanwhile carries the journal", async () => {
    const charge = held("charge")
    const store = diskStore()
    const adapter = check.fake({ scripts: [calls("charge"), says("done"), says("more")] })
    const { troupe } = await check.troupe({ adapter, tools: [charge.tool], store })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => charge.gates.length === 1)
    const next = chat.send("and then?")
    expect(await next.receipt).toEqual({ status: "pending" })
    expect(states(store.record())).toEqual(["intended"])
    expect(store.record()?.inbox).toHaveLength(1)
    charge.gates[0]?.resolve(1)
    await turn.result()
    await next.result()
    expect(store.record()?.open).toBeUndefined()
  })

  test("JOUR4 calls that read are not journalled: nothing is saved for them", async () => {
    const store = diskStore()
    const read = make({ name: "read", effect: "read", handler: () => ok(1) })
    const adapter = check.fake({ scripts: [calls("read", "read"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [read], store })
    await (await troupe.chat("c")).send("go").result()
    expect(store.saves).toBe(3)
  })

  test("JOUR5 the outcome of a call is kept while others go on running", async () => {
    const charge = held("charge")
    const store = diskStore()
    const adapter = check.fake({ scripts: [calls("charge", "charge"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [charge.tool], store, schedule: "concurrent" })
    const turn = (await troupe.chat("c")).send("go")
    await until(() => charge.gates.length === 2)
    charge.gates[1]?.resolve("second")
    await until(() => store.saves === 3)
    expect(states(store.record())).toEqual(["intended", "done"])
    expect(outcomes(store.record())).toEqual(["c1 completed"])
    charge.gates[0]?.resolve("first")
    const result = await turn.result()
    expect(outcomes(result)).toEqual(["c0 completed", "c1 completed"])
  })
})

/** A chat whose program ends while `charge` runs; the next program begins. */
const interrupted = async (onUnknown: OnUnknown, second = says("done")) => {
  const charge = held("charge", { onUnknown })
  const look = held("look", { effect: "read" })
  const tools = [charge.tool, look.tool]
  const store = diskStore()
  const first = await check.troupe({
    adapter: check.fake({ scripts: [calls("look", "charge", "charge", "look")] }),
    tools,
    store
  })
  const turn = (await first.troupe.chat("c")).send("go")
  await until(() => look.gates.length === 1)
  look.gates[0]?.resolve("seen")
  await until(() => charge.gates.length === 1)
  const next = store.leave()
  await first.troupe.stop()
  await turn.result().catch(() => {})
  const adapter = check.fake({ scripts: [second, says("more")] })
  const { troupe } = await check.troupe({ adapter, tools, store: next })
  return { chat: await troupe.chat("c"), charge, look, adapter, store: next }
}

describe("a program that ends while tools run", () => {
  test("REVIVE1 what is known is in the thread, what had not begun was not started, reads may be called again", async () => {
    const { chat, adapter } = await interrupted("fail")
    expect(outcomes(chat)).toEqual(["c0 completed", "c1 unknown", "c2 not_started", "c3 cancelled"])
    expect(chat.getSnapshot()?.value).toBe("interrupted")
    const result = await chat.retry().result()
    expect(result.haltedReason).toBe("completed")
    expect(adapter.requests[0]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "tool",
      "tool"
    ])
  })

  test("REVIVE2 `ask`: the chat waits for a decision, and nothing runs", async () => {
    const { chat, charge, adapter } = await interrupted("ask")
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
    expect(chat.getSnapshot()?.context.phase).toBe("awaitingApproval")
    expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([
      { toolCall: { id: "c1", name: "charge" }, kind: "unknown_outcome" }
    ])
    await expect(chat.send("well?").result()).rejects.toMatchObject({ reason: "awaiting_approval" })
    await expect(chat.retry().result()).rejects.toMatchObject({ reason: "awaiting_approval" })
    expect(charge.gates).toHaveLength(1)
    expect(adapter.requests).toHaveLength(0)
    const result = await chat.approve("c1", { type: "result", value: "charged" }).result()
    expect(result.haltedReason).toBe("completed")
    expect(charge.gates).toHaveLength(1)
    expect(outcomes(result)).toEqual(["c0 completed", "c1 completed", "c2 not_started", "c3 cancelled"])
  })

  test("REVIVE2 `ask`, allowed: it runs again, under the same idempotency key", async () => {
    const { chat, charge } = await interrupted("ask")
    const turn = chat.approve("c1", { type: "allow" })
    await until(() => charge.gates.length === 2)
    expect(charge.keys[1]).toBe(charge.keys[0])
    charge.gates[1]?.resolve("charged")
    expect(outcomes(await turn.result())).toEqual(["c0 completed", "c1 completed", "c2 not_started", "c3 cancelled"])
  })

  test("REVIVE2 `ask`, denied: the model reads that it is unknown", async () => {
    const { chat, charge } = await interrupted("ask")
    const result = await chat.approve("c1", { type: "deny", reason: "leave it" }).result()
    expect(outcomes(result)).toEqual(["c0 completed", "c1 unknown", "c2 not_started", "c3 cancelled"])
    expect(charge.gates).toHaveLength(1)
  })

  test("REVIVE2 `retry`: it runs again when the chat goes on, under the same key, and not before", async () => {
    const { chat, charge, adapter } = await interrupted("retry")
    expect(chat.getSnapshot()?.value).toBe("interrupted")
    expect(charge.gates).toHaveLength(1)
    const turn = chat.retry()
    await until(() => charge.gates.length === 2)
    expect(adapter.requests).toHaveLength(0)
    expect(charge.keys[1]).toBe(charge.keys[0])
    charge.gates[1]?.resolve("charged")
    expect(outcomes(await turn.result())).toEqual(["c0 completed", "c1 completed", "c2 not_started", "c3 cancelled"])
  })

  test("OPEN2 `retry` with new words: the results stand behind their message, before what was said", async () => {
    const { chat, charge, adapter } = await interrupted("retry")
    const turn = chat.send("and now?")
    await until(() => charge.gates.length === 2)
    charge.gates[1]?.resolve("charged")
    const result = await turn.result()
    expect(result.thread.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "tool",
      "tool",
      "user",
      "assistant"
    ])
    expect(adapter.requests).toHaveLength(1)
  })

  test("what a call asked the user before the end is asked still", async () => {
    const charge = held("charge", { onUnknown: "fail" })
    const ask = make({ name: "ask", handler: () => askUser("which?") })
    const tools = [charge.tool, ask]
    const store = diskStore()
    const first = await check.troupe({
      adapter: check.fake({ scripts: [calls("ask", "charge")] }),
      tools,
      store,
      schedule: "concurrent"
    })
    const turn = (await first.troupe.chat("c")).send("go")
    await until(() => charge.gates.length === 1 && states(store.record())?.[0] === "done")
    const next = store.leave()
    await first.troupe.stop()
    await turn.result().catch(() => {})
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("fine")] }), tools, store: next })
    const chat = await troupe.chat("c")
    expect(chat.getSnapshot()?.value).toBe("awaitingUser")
    expect((await chat.send("that").result()).haltedReason).toBe("completed")
  })

  test.each([
    ["call", "first"],
    ["observed", "second"]
  ] as const)(
    "of two halts before the end, with `haltOrder: %s`, the halt `%s` takes effect",
    async (haltOrder, counts) => {
      const charge = held("charge", { onUnknown: "fail" })
      const gate = Promise.withResolvers<void>()
      const first = make({ name: "first", handler: () => gate.promise.then(() => halt("first")) })
      const second = make({ name: "second", handler: () => halt("second") })
      const tools = [charge.tool, first, second]
      const store = diskStore()
      const options = { tools, schedule: "concurrent", haltOrder } as const
      const before = await check.troupe({
        ...options,
        store,
        adapter: check.fake({ scripts: [calls("first", "second", "charge")] })
      })
      const turn = (await before.troupe.chat("c")).send("go")
      await until(() => charge.gates.length === 1 && states(store.record())?.[1] === "done")
      gate.resolve()
      await until(() => states(store.record())?.[0] === "done")
      const next = store.leave()
      await before.troupe.stop()
      await turn.result().catch(() => {})
      const { troupe } = await check.troupe({ ...options, store: next, adapter: check.fake({ scripts: [] }) })
      const result = await (await troupe.chat("c")).retry().result()
      expect(result.haltedReason).toBe(counts)
    }
  )

  test("a halt before the end takes effect when the turn goes on", async () => {
    const charge = held("charge", { onUnknown: "fail" })
    const enough = make({ name: "enough", handler: () => halt("enough", { why: () => 1 }) })
    const tools = [charge.tool, enough]
    const toolResultEncoder = { encode: () => "enough" }
    const store = diskStore()
    const first = await check.troupe({
      adapter: check.fake({ scripts: [calls("enough", "charge")] }),
      tools,
      store,
      toolResultEncoder,
      schedule: "concurrent"
    })
    const turn = (await first.troupe.chat("c")).send("go")
    await until(() => charge.gates.length === 1 && states(store.record())?.[0] === "done")
    const next = store.leave()
    await first.troupe.stop()
    await turn.result().catch(() => {})
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [] }), tools, store: next })
    const result = await (await troupe.chat("c")).retry().result()
    expect(result.haltedReason).toBe("enough")
  })
})

test("JOUR6 a chat's process that dies loses no outcome that came: only calls that ran are unknown", async () => {
  const charge = held("charge")
  const adapter = check.fake({ scripts: [calls("charge", "charge"), says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [charge.tool], schedule: "concurrent" })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => charge.gates.length === 2)
  charge.gates[0]?.resolve("first")
  await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "done")
  if (chat.pid !== undefined) Process.kill(chat.pid)
  await expect(readAll(turn)).rejects.toMatchObject({ reason: "chat_died" })
  await until(() => chat.pid !== undefined)
  expect(outcomes(chat)).toEqual(["c0 completed"])
  expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([{ toolCall: { id: "c1" } }])
  const result = await chat.approve("c1", { type: "deny" }).result()
  expect(outcomes(result)).toEqual(["c0 completed", "c1 unknown"])
})

test("REVIVE2 a chat whose process dies: what had begun is unknown, and waits for a decision", async () => {
  const charge = held("charge")
  const adapter = check.fake({ scripts: [calls("charge", "charge"), says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [charge.tool] })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => charge.gates.length === 1)
  if (chat.pid !== undefined) Process.kill(chat.pid)
  await expect(readAll(turn)).rejects.toMatchObject({ reason: "chat_died" })
  await until(() => chat.pid !== undefined)
  expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([{ toolCall: { id: "c0" } }])
  expect(outcomes(chat)).toEqual(["c1 not_started"])
  const decided = await chat.approve("c0", { type: "result", value: 1 }).result()
  expect(outcomes(decided)).toEqual(["c0 completed", "c1 not_started"])
})
