import { describe, expect, test } from "vitest"
import { SessionError, ValidationError } from "../../src/errors/ChatError.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { SendOptions } from "../../src/record/Inbox.ts"
import { Delivery } from "../../src/inbox/inputReceipt.ts"
import { make } from "../../src/tool/Tool.ts"
import { hop, until } from "../double/hop.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { moodyStore, userLines } from "../double/heldModel.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, readAll, said, says, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

/** A chat whose model is answered by hand, and a turn that runs. */
const busyChat = async (more: { readonly maxTurns?: number } = {}) => {
  const adapter = handAdapter()
  const store = moodyStore()
  const { troupe, clock, system } = await check.troupe({ adapter, store, ...more })
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => adapter.streams.length === 1)
  const answer = async (index: number, text: string) => {
    await until(() => adapter.streams.length > index)
    adapter.streams[index]?.text(text)
    adapter.streams[index]?.finish("stop")
  }
  return { adapter, store, chat, running, answer, clock, troupe, system }
}

describe("RCPT1 the status only moves on", () => {
  test("pending, then delivered; neither rejected nor pending after that", async () => {
    const delivery = new Delivery("queue", "i", false)
    expect(delivery.status).toBe("sent")
    delivery.pend()
    delivery.reject(new Error("late"))
    expect(await delivery.first).toEqual({ status: "pending" })
    delivery.deliver()
    delivery.pend()
    delivery.reject(new Error("later"))
    expect([delivery.status, await delivery.first, await delivery.last]).toEqual([
      "delivered",
      { status: "pending" },
      { status: "delivered" }
    ])
  })

  test("rejected stays rejected", async () => {
    const delivery = new Delivery("queue", "i", false)
    const error = new SessionError("busy", "no")
    delivery.reject(error)
    delivery.pend()
    delivery.deliver()
    expect(await delivery.last).toEqual({ status: "rejected", reason: "busy", error })
  })
})

test("RCPT2 `delivered` is said when the store has the input in the thread, not before", async () => {
  const gate = Promise.withResolvers<void>()
  const store = moodyStore()
  const save = store.save.bind(store)
  const adapter = check.fake({ script: says("x") })
  const { troupe } = await check.troupe({
    adapter,
    store: { ...store, load: store.load, save: (record) => gate.promise.then(() => save(record)) }
  })
  const turn = (await troupe.chat("c")).send("hi")
  await hop()
  expect(turn.status).toBe("sent")
  gate.resolve()
  expect(await turn.receipt).toEqual({ status: "delivered" })
  await turn.result()
})

test("RCPT2 CHAT9 `pending` is said when the store has the row, which leaves when the thread has the input", async () => {
  const { store, chat, running, answer } = await busyChat()
  const queued = chat.send("later")
  expect(await queued.receipt).toEqual({ status: "pending" })
  expect(store.saved.at(-1)).toMatchObject({
    running: true,
    thread: { messages: [{ content: "go" }] },
    inbox: [{ id: queued.id, whenBusy: "queue", message: { role: "user", content: "later" } }]
  })
  expect(chat.getSnapshot()?.context.inbox.map(({ message }) => message.content)).toEqual(["later"])
  await answer(0, "one")
  expect(await queued.delivery).toEqual({ status: "delivered" })
  await answer(1, "two")
  await Promise.all([running.result(), queued.result()])
  for (const { inbox, thread } of store.saved) {
    const waits = inbox?.some(({ id }) => id === queued.id) === true
    expect(waits && userLines(thread.messages).includes("later")).toBe(false)
  }
  expect(chat.getSnapshot()?.context.inbox).toEqual([])
})

describe("CHAT7 an input that steers", () => {
  test("joins the running turn behind the results of the step, before the next request, and is that turn from there", async () => {
    const gate = Promise.withResolvers<void>()
    const wait = handling("wait", () => gate.promise.then(() => ok(1)))
    const adapter = check.fake({ scripts: [calls("wait"), says("both")] })
    const { troupe } = await check.troupe({ adapter, tools: [wait] })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    const steer = chat.send("and this", { whenBusy: "steer" })
    const queued = chat.send("later")
    expect(await steer.receipt).toEqual({ status: "pending" })
    gate.resolve()
    expect(await steer.delivery).toEqual({ status: "delivered" })
    const result = await running.result()
    expect(await steer.result()).toBe(result)
    expect(result.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"])
    expect(said(adapter.requests[1]?.messages.at(-1))).toBe("and this")
    const events = await readAll(steer)
    expect([tagsOf(events)[0], tagsOf(events).at(-1)]).toEqual(["message_started", "chat_completed"])
    await queued.result()
  })

  test("keeps a turn going that has its final answer", async () => {
    const { adapter, chat, running, answer } = await busyChat()
    const steers = [chat.send("a", { whenBusy: "steer" }), chat.send("b", { whenBusy: "steer" })]
    await answer(0, "first")
    await answer(1, "second")
    const result = await running.result()
    expect(result.steps).toHaveLength(2)
    expect(result.thread.messages.map(said)).toEqual(["go", "first", "a", "b", "second"])
    for (const steer of steers) expect(await steer.result()).toBe(result)
    expect(adapter.streams).toHaveLength(2)
  })

  test("does not go past `maxTurns`: it is queued", async () => {
    const { chat, running, answer } = await busyChat({ maxTurns: 1 })
    const queued = chat.send("queued")
    const steer = chat.send("steers", { whenBusy: "steer" })
    await answer(0, "first")
    expect((await running.result()).steps).toHaveLength(1)
    await answer(1, "second")
    await answer(2, "third")
    expect((await steer.result()).thread.messages.map(said)).toEqual(["go", "first", "steers", "second"])
    await queued.result()
    expect(userLines(chat.thread.messages)).toEqual(["go", "steers", "queued"])
  })

  test("is queued when the turn is cancelled, fails or asks the user first", async () => {
    const { adapter, chat, running, answer } = await busyChat()
    const first = chat.send("one", { whenBusy: "steer" })
    await chat.cancel()
    expect((await running.result()).haltedReason).toBe("cancelled")
    await until(() => adapter.streams.length === 2)
    const second = chat.send("two", { whenBusy: "steer" })
    adapter.streams[1]?.fail(new Error("broken"))
    expect((await first.result()).haltedReason).toBe("error")
    await answer(2, "fine")
    expect((await second.result()).haltedReason).toBe("completed")
    expect(userLines(chat.thread.messages)).toEqual(["go", "one", "two"])
  })

  test("begins a turn at once when none runs", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
    const turn = (await troupe.chat("c")).send("hi", { whenBusy: "steer" })
    expect((await turn.result()).haltedReason).toBe("completed")
  })
})

describe("CHAT8 an interrupt", () => {
  test("cancels the running turn and is next, before what is queued", async () => {
    const { chat, running, answer } = await busyChat()
    const queued = chat.send("queued")
    const interrupt = chat.send("now", { whenBusy: "interrupt" })
    expect((await running.result()).haltedReason).toBe("cancelled")
    await answer(1, "yes")
    expect((await interrupt.result()).haltedReason).toBe("completed")
    await answer(2, "at last")
    await queued.result()
    expect(userLines(chat.thread.messages)).toEqual(["go", "now", "queued"])
  })

  test("behind another cancels that as it begins: none waits for a model", async () => {
    const { adapter, chat, running, answer } = await busyChat()
    const storm = Array.from({ length: 50 }, (_, index) => chat.send(`i${index}`, { whenBusy: "interrupt" }))
    await answer(1, "done")
    const ends = await Promise.all([running, ...storm].map((turn) => turn.result()))
    expect(ends.map(({ haltedReason }) => haltedReason)).toEqual([...Array(50).fill("cancelled"), "completed"])
    for (const turn of storm) expect(await turn.delivery).toEqual({ status: "delivered" })
    expect(adapter.streams).toHaveLength(2)
    expect(userLines(chat.thread.messages)).toEqual(["go", ...storm.map((_, index) => `i${index}`)])
  })

  test("is bounded by the drain deadline, whatever a tool does", async () => {
    const deaf = handling("deaf", () => new Promise(() => {}))
    const adapter = check.fake({ scripts: [calls("deaf"), says("x")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [deaf], drainMs: 10 })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    const interrupt = chat.send("now", { whenBusy: "interrupt" })
    await clock.advance(10)
    expect((await running.result()).haltedReason).toBe("cancelled")
    expect((await interrupt.result()).haltedReason).toBe("completed")
  })
})

describe("`reject`", () => {
  test("refuses an input while a turn runs, at once, and stores nothing", async () => {
    const { store, chat, running, answer } = await busyChat()
    const before = store.saved.length
    const refused = chat.send("no", { whenBusy: "reject" })
    expect([refused.over, refused.status]).toEqual([true, "rejected"])
    expect(await refused.receipt).toMatchObject({ status: "rejected", reason: "busy" })
    await expect(refused.result()).rejects.toMatchObject({ _tag: "SessionError", reason: "busy" })
    expect(store.saved).toHaveLength(before)
    await answer(0, "x")
    await running.result()
    const taken = chat.send("yes", { whenBusy: "reject" })
    await answer(1, "y")
    expect((await taken.result()).haltedReason).toBe("completed")
  })
})

test("RCPT3 an input that the store did not take is rejected, in the inbox as in the thread, and may be sent again", async () => {
  const { store, chat, running, answer } = await busyChat()
  store.failing = true
  const lost = chat.send("lost", { id: "x" })
  expect(await lost.receipt).toMatchObject({ status: "rejected", reason: "store_failed" })
  await expect(lost.result()).rejects.toMatchObject({ reason: "store_failed" })
  store.failing = false
  await answer(0, "one")
  await running.result()
  const again = chat.send("found", { id: "x" })
  await answer(1, "two")
  await again.result()
  expect(userLines(chat.thread.messages)).toEqual(["go", "found"])
})

test("RCPT3 ARR1 an input whose turn cannot be stored is held and pending; `retry` runs it", async () => {
  const { store, chat, running, answer } = await busyChat()
  const queued = chat.send("later")
  expect(await queued.receipt).toEqual({ status: "pending" })
  await hop()
  store.failing = true
  await answer(0, "one")
  expect((await running.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
  expect((await queued.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
  expect(queued.status).toBe("pending")
  expect(chat.getSnapshot()?.context.inbox.map(({ id }) => id)).toEqual([queued.id])
  store.failing = false
  const retried = chat.retry()
  await answer(1, "two")
  expect((await retried.result()).haltedReason).toBe("completed")
  expect(await queued.delivery).toEqual({ status: "delivered" })
  expect(chat.thread.messages.map(said)).toEqual(["go", "one", "later", "two"])
  expect(chat.getSnapshot()?.context.inbox).toEqual([])
})

describe("REF4 an input sent twice under one id is one input", () => {
  test("while it waits, while it runs, and when it is over", async () => {
    const { chat, running, answer, troupe } = await busyChat()
    const first = chat.send("once", { id: "x" })
    expect(chat.send("once", { id: "x" })).toBe(first)
    expect(await first.receipt).toEqual({ status: "pending" })
    await answer(0, "one")
    await running.result()
    await first.delivery
    expect(chat.send("once", { id: "x" })).toBe(first)
    await answer(1, "two")
    await first.result()
    await hop()
    for (const ref of [chat, await chat.stop().then(() => troupe.chat("c"))]) {
      const late = ref.send("once", { id: "x" })
      expect(await late.receipt).toEqual({ status: "delivered" })
      await expect(late.result()).rejects.toMatchObject({ reason: "already_delivered" })
      expect(userLines(ref.thread.messages)).toEqual(["go", "once"])
    }
  })
})

test("REF4 other content under the id of an input is refused", async () => {
  const { chat, running, answer } = await busyChat()
  const parts = () => [{ type: "text", text: "pay 5" } as const]
  const first = chat.send(parts(), { id: "x" })
  expect(chat.send(parts(), { id: "x" })).toBe(first)
  expect(() => chat.send("pay 900", { id: "x" })).toThrow(ValidationError)
  await answer(0, "one")
  await running.result()
  await answer(1, "two")
  await first.result()
})

test("an input is what it was when it was sent, whatever its sender does to it afterwards", async () => {
  const { chat, running, answer } = await busyChat()
  const part = { type: "text" as const, text: "pay 5" }
  const sent = chat.send([part])
  part.text = "pay 900"
  await answer(0, "one")
  await running.result()
  await answer(1, "two")
  await sent.result()
  expect(JSON.stringify(chat.thread)).not.toContain("900")
})

describe("MAIL3 inputs that an earlier life left", () => {
  const withLeft = async () => {
    const { chat, running, troupe, adapter, answer } = await busyChat()
    const left = [chat.send("a", { id: "a" }), chat.send("b")]
    await Promise.all(left.map((turn) => turn.receipt))
    await chat.stop()
    await expect(running.result()).rejects.toMatchObject({ reason: "chat_stopped" })
    for (const turn of left) expect(await turn.delivery).toEqual({ status: "pending" })
    return { chat: await troupe.chat("c"), adapter, answer }
  }

  test("are seen, and run nothing by themselves", async () => {
    const { chat, adapter } = await withLeft()
    await hop()
    expect(chat.getSnapshot()?.context.inbox.map(({ message }) => message.content)).toEqual(["a", "b"])
    expect([adapter.streams.length, chat.getSnapshot()?.context.phase]).toEqual([1, "interrupted"])
  })

  test("run with `resume`, in order, once", async () => {
    const { chat, answer } = await withLeft()
    const turns = chat.resume()
    expect(chat.resume()).toEqual(turns)
    expect(chat.send("a", { id: "a" })).toBe(turns[0])
    await answer(1, "ra")
    await answer(2, "rb")
    await Promise.all(turns.map((turn) => turn.result()))
    expect(chat.thread.messages.map(said)).toEqual(["go", "a", "ra", "b", "rb"])
    expect(chat.resume()).toEqual([])
  })

  test("run before the next `send`, and after an interrupt", async () => {
    const { chat, answer } = await withLeft()
    const last = chat.send("c")
    for (const index of [1, 2, 3]) await answer(index, `r${index}`)
    await last.result()
    expect(userLines(chat.thread.messages)).toEqual(["go", "a", "b", "c"])
  })

  test("are queued once they are released: a new interrupt runs before an interrupt that was left", async () => {
    const { chat, troupe, store, answer } = await busyChat()
    await chat.send("a").receipt
    await chat.stop()
    const record = await store.load("c")
    if (record?.inbox === undefined) throw new Error("nothing was left")
    await store.save({ ...record, inbox: record.inbox.map((entry) => ({ ...entry, whenBusy: "interrupt" as const })) })
    const again = await troupe.chat("c")
    const last = again.send("b", { whenBusy: "interrupt" })
    for (const index of [1, 2]) await answer(index, `r${index}`)
    expect((await last.result()).haltedReason).toBe("completed")
    await until(() => again.getSnapshot()?.value === "idle")
    expect(again.thread.messages.map(said)).toEqual(["go", "b", "r1", "a", "r2"])
  })

  test("run after what `retry` asks again", async () => {
    const { chat, answer } = await withLeft()
    const retried = chat.retry()
    for (const index of [1, 2, 3]) await answer(index, `r${index}`)
    await retried.result()
    await until(() => chat.getSnapshot()?.value === "idle")
    expect(chat.thread.messages.map(said)).toEqual(["go", "r1", "a", "r2", "b", "r3"])
  })

  test("are released, and still make the chat busy, for a sender who chose `reject`", async () => {
    const { chat, answer } = await withLeft()
    expect(await chat.send("c", { whenBusy: "reject" }).receipt).toMatchObject({ reason: "busy" })
    for (const index of [1, 2]) await answer(index, "r")
    await until(() => chat.getSnapshot()?.value === "idle")
    expect(userLines(chat.thread.messages)).toEqual(["go", "a", "b"])
  })
})

test("unknown options are refused", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), tools: [make({ name: "m" })] })
  const chat = await troupe.chat("c")
  for (const options of [{ whenBusy: "later" }, { when: "steer" }, { id: "" }, { id: 7 }]) {
    expect(() => chat.send("x", options as unknown as SendOptions)).toThrow(ValidationError)
  }
})
