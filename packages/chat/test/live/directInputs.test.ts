/** CHAT9 The input of a chat at rest: its turn begins at once, and its first commit stores it. */
import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Hooks } from "../../src/gate/Hooks.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import * as Store from "../../src/store/Store.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { userLines } from "../double/heldModel.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, says } from "../double/scripts.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"

const check = leakCheck()

/** A store in memory that notes its writes; `fails` says which of them fail, and `gate` holds the entries back. */
const noted = () => {
  const inner = Store.memory()
  const writes: Array<string> = []
  const control = { fails: (_write: string) => false, gate: undefined as Promise<void> | undefined }
  const does = (write: string): void => {
    writes.push(write)
    if (control.fails(write)) throw new Error("disk full")
  }
  const store: SessionStore = {
    ...inner,
    append: async (...args) => {
      does("append")
      await control.gate
      return inner.append(...args)
    },
    accept: (...args) => {
      does("accept")
      return inner.accept(...args)
    }
  }
  return { store, inner, writes, control }
}

test("CHAT9 a text turn of a chat at rest is two writes, a turn with one writing call four, and its receipt is `delivered` at once", async () => {
  const { store, writes } = noted()
  const pay = { ...echo, name: "pay", effect: "write" as const }
  const adapter = check.fake({ scripts: [says("fine"), calls("pay"), says("paid")] })
  const { troupe } = await check.troupe({ adapter, store, tools: [pay] })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  expect(await turn.receipt).toEqual({ status: "delivered" })
  await turn.result()
  expect(writes.splice(0)).toEqual(["append", "append"])
  await chat.send("pay").result()
  expect(writes).toEqual(["append", "append", "append", "append"])
  expect((await store.history("c")).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
})

test("CHAT9 an input that waits has a row: of a busy chat, under a name of its sender, and before the hooks of prompts", async () => {
  const { store, writes } = noted()
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("c")
  const first = chat.send("go")
  await until(() => adapter.streams.length === 1)
  const second = chat.send("waits")
  expect(await second.receipt).toEqual({ status: "pending" })
  for (const at of [0, 1]) {
    await until(() => adapter.streams.length > at)
    adapter.streams[at]?.finish("stop")
  }
  await Promise.all([first.result(), second.result()])
  expect(writes.filter((write) => write === "accept")).toHaveLength(1)
  const named = chat.send("named", { id: "n" })
  await until(() => adapter.streams.length === 3)
  adapter.streams[2]?.finish("stop")
  await named.result()
  expect(writes.filter((write) => write === "accept")).toHaveLength(2)
  const hooks: Hooks = { UserPromptSubmit: [() => "ok"] }
  const hooked = noted()
  const other = await check.troupe({ adapter: check.fake({ script: says("fine") }), store: hooked.store, hooks })
  await (await other.troupe.chat("c")).send("go").result()
  expect(hooked.writes).toEqual(["accept", "append", "append"])
})

test("ARR3 its first commit fails: it gets a row, its receipt is pending, and a retry runs it once", async () => {
  const { store, inner, control } = noted()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  control.fails = (write) => write === "append"
  const turn = chat.send("go")
  expect((await turn.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
  expect(await turn.receipt).toEqual({ status: "pending" })
  expect((await inner.load("c"))?.inbox).toMatchObject([{ id: turn.id }])
  control.fails = () => false
  const again = chat.retry()
  expect([again.id, (await again.result()).haltedReason]).toEqual([turn.id, "completed"])
  expect(await turn.delivery).toEqual({ status: "delivered" })
  expect([userLines(chat.thread.messages), (await inner.load("c"))?.inbox]).toEqual([["go"], undefined])
})

test("RCPT3 the store refuses everything: the input is rejected, leaves no trace, and a retry sends it again", async () => {
  const { store, inner, control } = noted()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  control.fails = () => true
  const turn = chat.send("go")
  await turn.ended
  expect(await turn.receipt).toMatchObject({ status: "rejected", reason: "store_failed" })
  expect([await inner.load("c"), chat.thread.messages]).toEqual([undefined, []])
  control.fails = () => false
  const again = chat.retry()
  expect([again.id, (await again.result()).haltedReason]).toEqual([turn.id, "completed"])
  expect(userLines(chat.thread.messages)).toEqual(["go"])
})

test("DOOR3 its first commit takes effect and fails, and so does the empty write after it: its outcome is unknown, and it runs once", async () => {
  const { store, inner, control } = noted()
  let writes = 0
  const lost: SessionStore = {
    ...store,
    append: async (...args) => {
      const record = await (++writes === 2 ? Promise.reject(new Error("no connection")) : inner.append(...args))
      if (writes === 1) throw new Error("the connection is lost")
      return record
    }
  }
  control.fails = (write) => write === "accept"
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store: lost })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  expect((await turn.result()).haltedReason).toBe("error")
  expect(await turn.receipt).toMatchObject({ reason: "store_failed", error: { metadata: { outcome: "unknown" } } })
  expect((await chat.retry().result()).haltedReason).toBe("completed")
  expect([userLines(chat.thread.messages), (await inner.load("c"))?.thread.messages.length]).toEqual([["go"], 2])
})

test("REF4 the process is killed while its first commit is under way: the input is delivered and its turn died", async () => {
  const { store, control, writes } = noted()
  const gate = Promise.withResolvers<void>()
  control.gate = gate.promise
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => writes.length === 1)
  if (chat.pid !== undefined) Process.kill(chat.pid)
  control.gate = undefined
  gate.resolve()
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  expect(await turn.delivery).toEqual({ status: "delivered" })
  await until(() => chat.pid !== undefined)
  expect([chat.getSnapshot()?.value, userLines(chat.thread.messages)]).toEqual(["interrupted", ["go"]])
})

test("REF2 two inputs at once run in order, the second from its row", async () => {
  const { store, writes } = noted()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("fine") }), store })
  const chat = await troupe.chat("c")
  const turns = ["one", "two"].map((text) => chat.send(text))
  await Promise.all(turns.map((turn) => turn.result()))
  expect(userLines(chat.thread.messages)).toEqual(["one", "two"])
  expect(writes.filter((write) => write === "accept")).toHaveLength(1)
})

test("CHAT9 an answer that comes as its question is withdrawn goes back, gets a row, and runs once after that", async () => {
  const { store, writes } = noted()
  const ask = make({ name: "ask", handler: () => askUser("Which?") })
  const adapter = check.fake({ scripts: [calls("ask"), says("fine")] })
  const { troupe } = await check.troupe({ adapter, store, tools: [ask] })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  writes.splice(0)
  // The request to end the wait is in the mailbox before the answer.
  const cancelled = chat.cancel()
  const turn = chat.send("late")
  await cancelled
  expect((await turn.result()).haltedReason).toBe("completed")
  expect(userLines(chat.thread.messages)).toEqual(["go", "late"])
  expect(writes).toContain("accept")
})
