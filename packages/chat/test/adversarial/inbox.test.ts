/** Inputs that arrive at bad times: while the process is killed, the store fails or hangs, others send and interrupt too. */
import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { WhenBusy } from "../../src/record/Inbox.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { moodyStore, userLines } from "../double/heldModel.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, said, says } from "../double/scripts.ts"
import { memory } from "../double/savingStore.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const kill = (chat: LocalChatRef): void => {
  if (chat.pid === undefined) throw new Error("no process")
  Process.kill(chat.pid)
}

/** The receipt of an input of which the store gave no answer. */
const unknownOutcome = {
  status: "rejected",
  reason: "store_failed",
  error: { metadata: { outcome: "unknown" }, message: expect.stringContaining("again under the same id") }
}

const modes: ReadonlyArray<Exclude<WhenBusy, "reject">> = ["queue", "steer", "interrupt"]

/** A store that does, and then answers, what it is asked only when the test says so. */
const gatedStore = () => {
  const inner = moodyStore()
  const waiting: Array<() => void> = []
  let isOpen = false
  const store: RecordStore = {
    ...inner,
    save: async (record) => {
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
      await inner.save(record)
    }
  }
  const open = () => {
    isOpen = true
    for (const pass of waiting.splice(0)) pass()
  }
  return { inner, store, waiting, open, pass: () => waiting.shift()?.() }
}

describe("REF4 the process is killed", () => {
  const places = [0, 1, 2, 3, 4, 6, 8, 12, 20, 40]

  test.each(modes.flatMap((mode) => places.map((place) => [mode, place] as const)))(
    "with an input that is to %s, after %i turns of the event loop: it is delivered once",
    async (mode, place) => {
      const adapter = check.fake({ respond: (_request, index) => (index === 0 ? [{ hang: true }] : says("fine")) })
      const { troupe } = await check.troupe({ adapter, tools: [echo] })
      const chat = await troupe.chat("c")
      chat.send("go")
      await until(() => adapter.open === 1)
      const turn = chat.send("input", { whenBusy: mode })
      for (let hops = 0; hops < place; hops++) await new Promise<void>((resolve) => void setImmediate(resolve))
      kill(chat)
      expect(await turn.delivery).toEqual({ status: "delivered" })
      await turn.ended
      expect(userLines(chat.thread.messages)).toEqual(["go", "input"])
    }
  )

  test("while the store keeps the beginning of a turn: what it kept is delivered and died, what it did not is run", async () => {
    for (const fails of [false, true]) {
      const { inner, store, waiting, open, pass } = gatedStore()
      const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
      const chat = await troupe.chat("c")
      const turn = chat.send("go", { id: "go" })
      await until(() => waiting.length === 1)
      pass()
      await until(() => inner.saved.length === 1 && waiting.length === 1)
      kill(chat)
      inner.failing = fails
      pass()
      await hop()
      inner.failing = false
      open()
      expect(await turn.delivery).toEqual({ status: "delivered" })
      if (fails) expect((await turn.result()).haltedReason).toBe("completed")
      else await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
      await until(() => chat.pid !== undefined)
      expect(userLines(chat.thread.messages)).toEqual(["go"])
    }
  })

  test("with many waiting: interrupts run first, then what was to steer, then the queue", async () => {
    const adapter = check.fake({ respond: (_request, index) => (index === 0 ? [{ hang: true }] : says("fine")) })
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => adapter.open === 1)
    const queued = chat.send("q")
    const steer = chat.send("s", { whenBusy: "steer" })
    const interrupt = chat.send("i", { whenBusy: "interrupt" })
    kill(chat)
    await expect(running.result()).rejects.toMatchObject({ reason: "chat_died" })
    await Promise.all([queued, steer, interrupt].map((turn) => turn.result()))
    expect(userLines(chat.thread.messages)).toEqual(["go", "i", "s", "q"])
  })

  test("and the chat is revived in another program: what was pending is there, and runs once", async () => {
    const adapter = handAdapter()
    const store = moodyStore()
    const one = await check.troupe({ adapter, store })
    const chat = await one.troupe.chat("c")
    chat.send("go")
    await until(() => adapter.streams.length === 1)
    const pending = modes.map((whenBusy) =>
      chat.send(whenBusy, { whenBusy: whenBusy === "interrupt" ? "queue" : whenBusy, id: whenBusy })
    )
    await Promise.all(pending.map((turn) => turn.receipt))
    const left = structuredClone(store.saved.at(-1))
    if (left === undefined) throw new Error("nothing was stored")
    const other = moodyStore()
    await other.save(left)
    const two = await check.troupe({ adapter: check.fake({ script: says("fine") }), store: other })
    const again = await two.troupe.chat("c")
    expect(again.getSnapshot()?.context.inbox).toHaveLength(3)
    const turns = again.resume()
    await Promise.all(turns.map((turn) => turn.result()))
    for (const id of modes) expect(await again.send(id, { id }).receipt).toEqual({ status: "delivered" })
    expect(userLines(again.thread.messages)).toEqual(["go", "steer", "queue", "interrupt"])
    await one.troupe.stop()
  })
})

describe("ARR1 the store fails", () => {
  test.each(modes)(
    "for an input that is to %s: its sender gets the error, the thread has no trace, and the chat goes on",
    async (mode) => {
      const adapter = handAdapter()
      const store = moodyStore()
      const { troupe } = await check.troupe({ adapter, store, drainMs: 0 })
      const chat = await troupe.chat("c")
      const running = chat.send("go")
      await until(() => adapter.streams.length === 1)
      store.failing = true
      const turn = chat.send("input", { whenBusy: mode })
      expect(await turn.delivery).toMatchObject({ status: "rejected", reason: "store_failed" })
      store.failing = false
      adapter.streams[0]?.finish("stop")
      await running.result()
      const next = chat.send("next")
      await until(() => adapter.streams.length === 2)
      adapter.streams[1]?.finish("stop")
      await next.result()
      expect(userLines(chat.thread.messages)).toEqual(["go", "next"])
    }
  )

  test("as a steering input joins the thread: the turn ends with `error`, and the input is not lost", async () => {
    const adapter = handAdapter()
    const store = moodyStore()
    const { troupe } = await check.troupe({ adapter, store })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => adapter.streams.length === 1)
    const steer = chat.send("and", { whenBusy: "steer" })
    await steer.receipt
    await hop()
    store.failing = true
    adapter.streams[0]?.text("one")
    adapter.streams[0]?.finish("stop")
    expect((await running.result()).thread.messages.map(said)).toEqual(["go", "one"])
    await steer.ended
    store.failing = false
    expect(steer.status).toBe("pending")
    const turns = [...chat.resume()]
    await until(() => adapter.streams.length === 2)
    adapter.streams[1]?.finish("stop")
    await Promise.all(turns.map((turn) => turn.result()))
    expect(await steer.delivery).toEqual({ status: "delivered" })
    expect(userLines(chat.thread.messages)).toEqual(["go", "and"])
  })

  test("while another input waits to be stored: that one is stored by itself", async () => {
    const { inner, store, waiting, pass, open } = gatedStore()
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
    const chat = await troupe.chat("c")
    const first = chat.send("lost", { id: "lost" })
    await until(() => waiting.length === 1)
    const second = chat.send("kept")
    await hop()
    expect(waiting).toHaveLength(1)
    inner.failing = true
    pass()
    expect(await first.receipt).toMatchObject({ status: "rejected", reason: "store_failed" })
    inner.failing = false
    open()
    expect((await second.result()).haltedReason).toBe("completed")
    for (const { thread } of inner.saved) expect(userLines(thread.messages)).not.toContain("lost")
  })

  test("for an interrupt: it is rejected, and the running turn goes on", async () => {
    const store = moodyStore()
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store })
    const chat = await troupe.chat("c")
    const running = chat.send("one")
    await until(() => adapter.streams.length === 1)
    store.failing = true
    const paid = chat.send("pay 900", { whenBusy: "interrupt" })
    await expect(paid.result()).rejects.toMatchObject({ reason: "store_failed" })
    store.failing = false
    adapter.streams[0]?.finish("stop")
    expect((await running.result()).haltedReason).toBe("completed")
    expect(userLines(chat.thread.messages)).toEqual(["one"])
  })

  test("for the input of a chat at rest: its turn ends with the error, and `retry` sends the input again", async () => {
    const store = moodyStore()
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
    const chat = await troupe.chat("c")
    store.failing = true
    const lost = chat.send("go", { id: "x" })
    expect((await lost.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
    expect(await lost.delivery).toMatchObject({ status: "rejected", reason: "store_failed" })
    store.failing = false
    const again = chat.retry()
    expect([again.id, (await again.result()).haltedReason]).toEqual(["x", "completed"])
    expect(await chat.send("go", { id: "x" }).receipt).toEqual({ status: "delivered" })
    expect(userLines(chat.thread.messages)).toEqual(["go"])
  })

  test("RCPT3 by being slow to accept: the outcome of the input is unknown, and it runs once under its id, whenever the store has it", async () => {
    for (const isLate of [true, false]) {
      const { store, waiting, open, pass } = gatedStore()
      const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
      const chat = await troupe.chat("c")
      const turn = chat.send("pay 900", { id: "pay" })
      await until(() => waiting.length === 1)
      await clock.advance(5_000)
      await expect(turn.result()).rejects.toMatchObject({ reason: "store_failed" })
      expect(await turn.receipt).toMatchObject(unknownOutcome)
      expect(chat.getSnapshot()?.context.inbox.map(({ id }) => id)).toEqual(["pay"])
      if (isLate) {
        pass()
        await hop()
        kill(chat)
        await until(() => chat.pid !== undefined)
      }
      open()
      const again = chat.send("pay 900", { id: "pay" })
      expect((await again.result()).haltedReason).toBe("completed")
      await chat.send("next").result()
      expect([await turn.delivery, await again.delivery]).toMatchObject([unknownOutcome, { status: "delivered" }])
      expect(userLines(chat.thread.messages)).toEqual(["pay 900", "next"])
    }
  })

  test("ARR3 by being slow to commit: the input is pending and held, and runs once, whenever the commit is stored", async () => {
    for (const isLate of [true, false]) {
      const { inner, store, waiting, open, pass } = gatedStore()
      const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
      const chat = await troupe.chat("c")
      const turn = chat.send("pay 900", { id: "pay" })
      await until(() => waiting.length === 1)
      pass()
      await until(() => inner.saved.length === 1 && waiting.length === 1)
      await clock.advance(5_000)
      expect((await turn.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
      expect([await turn.receipt, userLines(chat.thread.messages)]).toEqual([{ status: "pending" }, []])
      if (isLate) {
        pass()
        await hop()
        kill(chat)
      }
      open()
      await until(() => chat.pid !== undefined)
      if (!isLate) expect((await chat.retry().result()).haltedReason).toBe("completed")
      await chat.send("next").result()
      expect(await turn.delivery).toEqual({ status: "delivered" })
      expect(userLines(chat.thread.messages)).toEqual(["pay 900", "next"])
      expect((await inner.load("c"))?.inbox).toBeUndefined()
    }
  })

  test("ARR4 by accepting an input again after the chat was loaded: its row leaves with the next input", async () => {
    const store = memory()
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
    const before = await troupe.chat("c")
    await before.send("go").result()
    await before.stop()
    const chat = await troupe.chat("c")
    const [id = ""] = (await store.load("c"))?.inputs ?? []
    await store.accept("c", { id, whenBusy: "queue", message: { role: "user", content: "go" } })
    await chat.send("next").result()
    expect((await store.load("c"))?.inbox).toBeUndefined()
  })

  test("by hanging: a cancel ends the turn within the drain deadline, and its input is held", async () => {
    const { store, waiting, open } = gatedStore()
    const adapter = check.fake({ script: says("fine") })
    const { troupe, clock } = await check.troupe({ adapter, store, drainMs: 10 })
    const chat = await troupe.chat("c")
    const turn = chat.send("go", { id: "go" })
    await until(() => waiting.length === 1)
    const cancelled = chat.cancel()
    await clock.advance(10)
    await cancelled
    await expect(turn.result()).rejects.toMatchObject({ reason: "store_failed" })
    expect([await turn.receipt, chat.thread.messages, adapter.requests]).toMatchObject([unknownOutcome, [], []])
    open()
    await chat.send("next").result()
    expect(userLines(chat.thread.messages)).toEqual(["go", "next"])
  })

  test("by hanging at the beginning of a turn: a cancel gives the commit up, and its input is held", async () => {
    const { inner, store, waiting, open, pass } = gatedStore()
    const adapter = check.fake({ script: says("fine") })
    const { troupe, clock } = await check.troupe({ adapter, store, drainMs: 10 })
    const chat = await troupe.chat("c")
    const turn = chat.send("go", { id: "go" })
    await until(() => waiting.length === 1)
    pass()
    await until(() => inner.saved.length === 1 && waiting.length === 1)
    const cancelled = chat.cancel()
    await clock.advance(10)
    await clock.advance(10)
    await cancelled
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect([turn.status, chat.thread.messages, adapter.requests]).toEqual(["pending", [], []])
    open()
    await chat.send("next").result()
    expect(await turn.delivery).toEqual({ status: "delivered" })
    expect(userLines(chat.thread.messages)).toEqual(["go", "next"])
  })
})

test("RCPT2 a stop while the store is silent ends the receipt with an unknown outcome, and the same id sends the input once", async () => {
  for (const lands of [true, false]) {
    const { inner, store, waiting, open } = gatedStore()
    const one = await check.troupe({ adapter: check.fake({ script: says("fine") }), store, drainMs: 10 })
    const turn = (await one.troupe.chat("c")).send("pay 900", { id: "pay" })
    await until(() => waiting.length === 1)
    const stopped = one.troupe.stop()
    await until(() => one.clock.pending > 0)
    while (turn.status === "sent") await one.clock.advance(10)
    expect([await turn.receipt, await turn.delivery]).toMatchObject([unknownOutcome, unknownOutcome])
    if (lands) open()
    await one.clock.advance(60_000)
    await stopped
    const two = await check.troupe({ adapter: check.fake({ script: says("fine") }), store: inner })
    const chat = await two.troupe.chat("c")
    await chat.send("pay 900", { id: "pay" }).ended
    expect(userLines(chat.thread.messages)).toEqual(["pay 900"])
  }
})

describe("many at once", () => {
  test("ten thousand inputs sent while a turn runs are all pending, in order, and steer it together", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, maxWaitingInputs: Infinity, maxWaitingBytes: Infinity })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => adapter.streams.length === 1)
    const texts = Array.from({ length: 10_000 }, (_, index) => `m${index}`)
    const turns = texts.map((text) => chat.send(text, { whenBusy: "steer" }))
    for (const receipt of await Promise.all(turns.map((turn) => turn.receipt))) expect(receipt.status).toBe("pending")
    expect(chat.getSnapshot()?.context.inbox).toHaveLength(10_000)
    adapter.streams[0]?.finish("stop")
    await until(() => adapter.streams.length === 2)
    adapter.streams[1]?.finish("stop")
    const result = await running.result()
    for (const turn of turns) expect(await turn.result()).toBe(result)
    expect(userLines(chat.thread.messages)).toEqual(["go", ...texts])
  })

  test("two senders with the same ids say each thing once", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
    const [one, two] = await Promise.all([troupe.chat("c"), troupe.chat("c")])
    const ids = Array.from({ length: 20 }, (_, index) => `id${index}`)
    const turns = ids.flatMap((id) => [one, two].map((chat) => chat.send(id, { id })))
    await Promise.all(turns.map((turn) => turn.result()))
    expect(userLines(one.thread.messages)).toEqual(ids)
  })

  test("a storm of interrupts while a tool is called ends in order, and every call is answered", async () => {
    const adapter = check.fake({
      respond: ({ messages }) => (said(messages.at(-1)) === "i99" ? says("done") : calls("echo", "echo"))
    })
    const { troupe } = await check.troupe({ adapter, tools: [echo], drainMs: 0 })
    const chat = await troupe.chat("c")
    const turns = [chat.send("go")]
    for (let index = 0; index < 100; index++) {
      turns.push(chat.send(`i${index}`, { whenBusy: "interrupt" }))
      if (index % 7 === 0) await hop()
    }
    await Promise.all(turns.map((turn) => turn.ended))
    expect(userLines(chat.thread.messages)).toEqual(["go", ...Array.from({ length: 100 }, (_, index) => `i${index}`)])
    const made = chat.thread.messages.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []) : []
    )
    expect(chat.thread.messages.filter(({ role }) => role === "tool")).toHaveLength(made.length)
  })

  test("a cancel while an input waits to steer leaves it to run by itself", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => adapter.streams.length === 1)
    const steer = chat.send("and", { whenBusy: "steer" })
    await chat.cancel()
    expect((await running.result()).haltedReason).toBe("cancelled")
    await until(() => adapter.streams.length === 2)
    adapter.streams[1]?.finish("stop")
    expect((await steer.result()).haltedReason).toBe("completed")
  })
})

test("REF4 the inputs of a stopped chat are pending when the store has their rows, whether or not the chat knew that", async () => {
  const { store, waiting, open } = gatedStore()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: [{ hang: true }] }), store })
  const chat = await troupe.chat("c")
  const [running, queued] = [chat.send("go", { id: "go" }), chat.send("later")]
  await until(() => waiting.length === 1)
  const stopped = chat.stop()
  await hop()
  open()
  await stopped
  expect([await running.delivery, await queued.delivery]).toEqual([{ status: "pending" }, { status: "pending" }])
  const { context } = (await troupe.chat("c")).getSnapshot() ?? {}
  expect(context?.inbox.map(({ message }) => message.content)).toEqual(["go", "later"])
})
