import { expect, test } from "vitest"
import { memory } from "../double/savingStore.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said, says } from "../double/scripts.ts"

const check = leakCheck()

const isRefused = {
  _tag: "ValidationError",
  message: expect.stringContaining("names_another_input")
}

/** What `send` throws. */
const thrown = (send: () => unknown): unknown => {
  try {
    send()
  } catch (error) {
    return error
  }
  return "no error"
}

test("ARR5 the same id with another text is refused alike before, while and after its turn runs", async () => {
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter, store: memory() })
  const chat = await troupe.chat("c")
  const other = () => thrown(() => chat.send("pay 900", { id: "x" }))
  const running = chat.send("go")
  const turn = chat.send("pay 5", { id: "x" })
  await turn.receipt
  expect(other()).toMatchObject(isRefused)
  await until(() => adapter.streams.length === 1)
  adapter.streams[0]?.finish("stop")
  await running.result()
  await until(() => adapter.streams.length === 2)
  expect(other()).toMatchObject(isRefused)
  adapter.streams[1]?.finish("stop")
  await turn.result()
  expect(other()).toMatchObject(isRefused)
  await expect(chat.send("pay 5", { id: "x" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
  expect(chat.thread.messages.filter(({ role }) => role === "user").map(said)).toEqual(["go", "pay 5"])
})

test("ARR5 the same id with another text is refused after a restart, and of a text that steered or that a hook made anew", async () => {
  const store = memory()
  const adapter = handAdapter()
  const hooks = { UserPromptSubmit: [() => ({ type: "transform", prompt: "made anew" }) as const] }
  const first = await check.troupe({ adapter, store, hooks })
  const before = await first.troupe.chat("c")
  const running = before.send("go", { id: "x" })
  await until(() => adapter.streams.length === 1)
  const steering = before.send("aside", { id: "y", whenBusy: "steer" })
  await steering.receipt
  adapter.streams[0]?.finish("stop")
  await until(() => adapter.streams.length === 2)
  adapter.streams[1]?.finish("stop")
  await Promise.all([running.result(), steering.result()])
  await first.troupe.stop()
  const { troupe } = await check.troupe({ adapter, store, hooks })
  const chat = await troupe.chat("c")
  for (const [id, text] of [
    ["x", "go"],
    ["y", "aside"]
  ] as const) {
    expect(thrown(() => chat.send("pay 900", { id }))).toMatchObject(isRefused)
    await expect(chat.send(text, { id }).result()).rejects.toMatchObject({ reason: "already_delivered" })
  }
})

test("ARR5 the same id with another text is refused when its chat was unloaded", async () => {
  const adapter = check.fake({ respond: () => says("fine") })
  const { troupe } = await check.troupe({ adapter, store: memory(), maxLiveChats: 1 })
  const chat = await troupe.chat("c")
  await chat.send("pay 5", { id: "x" }).result()
  await (await troupe.chat("d")).send("go").result()
  expect(chat.pid).toBeUndefined()
  expect(thrown(() => chat.send("pay 900", { id: "x" }))).toMatchObject(isRefused)
  const again = await troupe.chat("c")
  expect(thrown(() => again.send("pay 900", { id: "x" }))).toMatchObject(isRefused)
  await expect(again.send("pay 5", { id: "x" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
})

test("ARR5 an input of an older record, which has its id alone, is delivered as before", async () => {
  const store = memory()
  const adapter = check.fake({ respond: () => says("fine") })
  const first = await check.troupe({ adapter, store })
  await (await first.troupe.chat("c")).send("pay 5", { id: "x" }).result()
  await first.troupe.stop()
  const record = await store.load("c")
  if (record === undefined) throw new Error("no record")
  const { version: _, ...rest } = record
  const messages = rest.thread.messages.map(
    ({ metadata: __, ...message }) => message as (typeof rest.thread.messages)[0]
  )
  await store.save({ ...rest, id: "old", thread: { messages } })
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("old")
  await expect(chat.send("pay 900", { id: "x" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
})
