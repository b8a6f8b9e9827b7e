/** Inputs, answers and calls whose store fails, hangs, or loses its answer at a bad time. */
import { expect, test } from "vitest"
import { tool } from "../../src/tool/functionTool.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"

const check = leakCheck()

/** A store whose next saves do this. */
const unlucky = () => {
  const store = memory()
  const fates: Array<"goes on" | "fails" | "is lost" | "hangs"> = []
  const append: SessionStore["append"] = async (id, entries, appending) => {
    const fate = fates.shift() ?? "goes on"
    if (fate === "hangs") return new Promise(() => {})
    if (fate === "fails") throw new Error("the disk is full")
    const record = await store.append(id, entries, appending)
    if (fate === "is lost") throw new Error("the connection was lost")
    return record
  }
  return { store, unlucky: { ...store, append }, fates }
}

test("CHAT2 the end of a turn that could not be stored is an error, also when the turn is cancelled while the store hangs", async () => {
  const { unlucky: store, fates } = unlucky()
  const adapter = check.fake({ script: says("fine") })
  const { troupe, clock } = await check.troupe({ adapter, store, drainMs: 10 })
  const chat = await troupe.chat("c")
  fates.push("goes on", "hangs")
  const turn = chat.send("go")
  await until(() => fates.length === 0)
  const cancelled = chat.cancel()
  await clock.advance(10)
  await cancelled
  expect((await turn.result()).haltedReason).toBe("error")
})

test("RCPT3 answers whose store gives no answer are rejected, with an unknown outcome", async () => {
  const { unlucky: store, fates } = unlucky()
  const adapter = check.fake({ scripts: [calls("pay"), says("done")] })
  const tools = [tool({ name: "pay", execute: () => "paid" })]
  const { troupe, clock } = await check.troupe({ adapter, tools, store, permissions: { ask: () => "suspend" } })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  fates.push("hangs")
  const turn = chat.answer({ decisions: { c0: { type: "allow" } }, input: "please" }, { id: "please" })
  await until(() => fates.length === 0)
  await clock.advance(5_000)
  expect(await turn.receipt).toMatchObject({ status: "rejected", error: { metadata: { outcome: "unknown" } } })
})

test("ARR3 an input whose save was stored and failed all the same outlives the program, whatever is saved next", async () => {
  const { store, unlucky: losing, fates } = unlucky()
  const first = await check.troupe({ adapter: check.fake({ scripts: [says("two")] }), store: losing })
  const chat = await first.troupe.chat("c")
  fates.push("is lost", "fails")
  const one = chat.send("one", { id: "one" })
  const two = chat.send("two", { whenBusy: "interrupt", id: "two" })
  await two.result()
  expect([one.status, two.status]).toEqual(["pending", "delivered"])
  const second = await check.troupe({ adapter: check.fake({ scripts: [says("one")] }), store })
  const again = await second.troupe.chat("c")
  await Promise.all(again.resume().map((turn) => turn.result()))
  expect(again.thread.messages.map(said).toSorted()).toEqual(["one", "one", "two", "two"])
})

test("ARR1 a question whose answer could not be stored is still asked", async () => {
  const { unlucky: store, fates } = unlucky()
  const adapter = check.fake({ scripts: [calls("asks"), says("done")] })
  const tools = [tool({ name: "asks", execute: () => askUser("Which?") })]
  const { troupe } = await check.troupe({ adapter, tools, store, maxTurns: 1 })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  fates.push("fails")
  await chat.send("this").result()
  await hop()
  expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe("Which?")
})

test("DEC2 of two calls that may have run, the one that is allowed beside a halt stays unknown", async () => {
  const store = memory()
  const started: Array<string> = []
  const tools = [
    tool({
      name: "pay",
      key: ({ key }) => String(key),
      execute: ({ key }) => (started.push(String(key)), new Promise(() => {}))
    })
  ]
  const script = calls(["pay", { key: "a" }], ["pay", { key: "b" }])
  const first = await check.troupe({ adapter: check.fake({ script }), tools, store, drainMs: 0 })
  const turn = (await first.troupe.chat("c")).send("go")
  await until(() => started.length === 2)
  const second = await check.troupe({ adapter: check.fake({ scripts: [] }), tools, store, drainMs: 0 })
  const chat = await second.troupe.chat("c")
  await chat.approve("c0", { type: "halt" }).result()
  await chat.approve("c1", { type: "allow" }).result()
  const outcomes = chat.thread.messages.flatMap((message) => (message.role === "tool" ? [message.outcome] : []))
  expect([outcomes, started]).toEqual([
    ["unknown", "unknown"],
    ["a", "b"]
  ])
  await first.troupe.stop()
  await turn.result().catch(() => {})
})

test("OPEN2 results that the caller submits follow their message in the order of its calls", async () => {
  const adapter = check.fake({ scripts: [calls("yours", "read", "yours"), says("done")] })
  const tools = [tool({ name: "yours", manual: true }), tool({ name: "read", effect: "read", execute: () => "read" })]
  const { troupe } = await check.troupe({ adapter, tools })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await chat.submitToolResults({ c2: "two", c0: "none" }).result()
  const results = chat.thread.messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : []))
  expect(results).toEqual(["c0", "c1", "c2"])
})
