/** The row of an input is in the store before its chat has the input. */
import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { handling, calls, says } from "../double/scripts.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { userLines } from "../double/heldModel.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import * as Store from "../../src/store/Store.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { user } from "../../src/model/Message.ts"

const check = leakCheck()

/** A store in memory whose rows are written when the test says so. */
const gatedRows = () => {
  const inner = Store.memory()
  const waiting: Array<() => void> = []
  const store: SessionStore = {
    ...inner,
    accept: async (id, input) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return inner.accept(id, input)
    }
  }
  const pass = async () => {
    await until(() => waiting.length > 0)
    waiting.shift()?.()
  }
  return { store, inner, waiting, pass }
}

describe("REF4 the row is in the store before the chat has the input", () => {
  test("of a program that ended between the two: the next one holds the input, and runs it once", async () => {
    const store = Store.memory()
    await store.accept("c", { id: "x", named: true, whenBusy: "queue", message: user("go") })
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
    const chat = await troupe.chat("c")
    expect(chat.getSnapshot()?.context.inbox.map(({ id }) => id)).toEqual(["x"])
    const again = chat.send("go", { id: "x" })
    expect(chat.resume()).toEqual([again])
    expect((await again.result()).haltedReason).toBe("completed")
    expect(await chat.send("go", { id: "x" }).receipt).toEqual({ status: "delivered" })
    expect([userLines(chat.thread.messages), (await store.load("c"))?.inbox]).toEqual([["go"], undefined])
  })

  test("of a chat whose process dies between the two: the next process runs the turn, once", async () => {
    const { store, inner, waiting, pass } = gatedRows()
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
    const chat = await troupe.chat("c")
    const turn = chat.send("go", { id: "go" })
    await until(() => waiting.length === 1)
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await pass()
    expect((await turn.result()).haltedReason).toBe("completed")
    expect([userLines(chat.thread.messages), (await inner.load("c"))?.inbox]).toEqual([["go"], undefined])
  })

  test("of a chat at rest: its first receipt is `delivered`, and the row leaves with the entry that has the input", async () => {
    const store = Store.memory()
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [{ hang: true }] }), store })
    const chat = await troupe.chat("c")
    expect(await chat.send("go").receipt).toEqual({ status: "delivered" })
    expect([(await store.history("c")).length, (await store.load("c"))?.inbox]).toEqual([1, undefined])
    await chat.cancel()
  })
})

test("REF2 a turn without an input does not overtake an input that is being stored", async () => {
  const { store, pass } = gatedRows()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  const first = chat.send("one", { id: "one" })
  await pass()
  await first.result()
  const second = chat.send("two", { id: "two" })
  const retried = chat.retry()
  await hop()
  expect([second.over, retried.over]).toEqual([false, false])
  await pass()
  await Promise.all([second.result(), retried.result()])
  expect(userLines(chat.thread.messages)).toEqual(["one", "two"])
})

test("a cancel reaches a turn whose input is being stored, and no other", async () => {
  const { store, pass } = gatedRows()
  const adapter = check.fake({ script: says("fine") })
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("c")
  const [turn, next] = [chat.send("go", { id: "go" }), chat.send("next")]
  const cancelled = chat.cancel()
  await pass()
  await pass()
  await cancelled
  expect((await turn.result()).haltedReason).toBe("cancelled")
  expect((await next.result()).haltedReason).toBe("completed")
  expect([adapter.requests.length, userLines(chat.thread.messages)]).toEqual([1, ["go", "next"]])
})

test("REFUSE1 an input that a chat at rest refuses has no row", async () => {
  const store = Store.memory()
  const tools = [{ ...handling("ask", () => ok(1)), manual: true }]
  const { troupe } = await check.troupe({ adapter: check.fake({ script: calls("ask") }), store, tools })
  const chat = await troupe.chat("c")
  expect((await chat.send("go").result()).haltedReason).toBe("manual_tool_calls")
  await hop()
  expect(await chat.send("more").receipt).toMatchObject({ status: "rejected", reason: "awaiting_tool_results" })
  expect((await store.load("c"))?.inbox).toBeUndefined()
})

test("other content under the id of a stored row is refused, and the row runs as it is", async () => {
  const store = Store.memory()
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("c")
  await store.accept("c", { id: "x", named: true, whenBusy: "queue", message: user("pay 5") })
  await expect(chat.send("pay 900", { id: "x" }).result()).rejects.toMatchObject({ _tag: "ValidationError" })
  expect((await store.load("c"))?.inbox).toMatchObject([{ message: { content: "pay 5" } }])
  expect(adapter.streams).toEqual([])
})

test("MAIL3 the row of an input that the thread has runs nothing, and leaves with the next entry", async () => {
  const store = Store.memory()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  await chat.send("go", { id: "x" }).result()
  await chat.stop()
  await store.accept("c", { id: "x", named: true, whenBusy: "queue", message: user("go") })
  const again = await troupe.chat("c")
  expect([again.getSnapshot()?.context.inbox, again.resume()]).toEqual([[], []])
  await again.send("next").result()
  expect([userLines(again.thread.messages), (await store.load("c"))?.inbox]).toEqual([["go", "next"], undefined])
})
