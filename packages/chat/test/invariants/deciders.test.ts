import { Fake, tool, Troupe } from "../../src/index.ts"
import { Store } from "../../src/store.ts"
import { expect, test } from "vitest"

const calls = [{ toolCall: { id: "c1", name: "pay", arguments: {} } }, { finish: "tool_calls" as const }]
const done = [{ text: "Done." }, { finish: "stop" as const }]

/** A chat whose call waits for approval, in as many programs over one store. */
const waiting = async (programs: number) => {
  const ran: Array<unknown> = []
  const store = Store.memory()
  const pay = tool({ name: "pay", execute: (args) => ran.push(args) })
  const start = (scripts: ReadonlyArray<typeof calls | typeof done>) =>
    Troupe.start({ adapter: Fake.make({ scripts }), tools: [pay], permissions: { ask: () => "suspend" }, store })
  const first = await start([calls])
  await (await first.chat("a")).send("Pay").result()
  await first.stop()
  const troupes = await Promise.all(Array.from({ length: programs }, () => start([done])))
  const chats = await Promise.all(troupes.map((troupe) => troupe.chat("a")))
  const stop = async () => {
    for (const troupe of troupes) await troupe.stop()
  }
  return { ran, chats, stop, store }
}

test("OPEN3 two people decide at once in one program: one decision is applied, and the other's error has it", async () => {
  const { ran, chats, stop } = await waiting(1)
  const [chat] = chats
  const [one, other] = [chat?.approve("c1", { type: "allow" }), chat?.approve("c1", { type: "deny", reason: "no" })]
  expect((await one?.result())?.haltedReason).toBe("completed")
  await expect(other?.result()).rejects.toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { toolCallId: "c1", decision: { type: "allow" }, outcome: "completed" }
  })
  expect((await other?.receipt)?.status).toBe("rejected")
  expect(ran).toHaveLength(1)
  await stop()
})

test("OPEN3 two people decide at once in two programs: one decision is applied, and the other's error has it", async () => {
  const { ran, chats, stop, store } = await waiting(2)
  const turns = chats.map((chat, index) =>
    chat.approve("c1", index === 0 ? { type: "deny", reason: "too much" } : { type: "allow" })
  )
  const ends = await Promise.allSettled(turns.map((turn) => turn.result()))
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
  const winner = ends.findIndex(({ status }) => status === "fulfilled")
  const lost = ends[1 - winner]
  expect(lost?.status === "rejected" ? lost.reason : undefined).toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { decision: winner === 0 ? { type: "deny", reason: "too much" } : { type: "allow" } }
  })
  expect(ran).toHaveLength(winner === 0 ? 0 : 1)
  expect((await store.waiting?.())?.waits).toEqual([])
  await stop()
})

test("OPEN3 a person who decides after later turns gets the decision; about an unknown call there is none", async () => {
  const { chats, stop } = await waiting(1)
  const [chat] = chats
  await chat?.approve("c1", { type: "result", value: "paid by hand" }).result()
  const error: unknown = await chat
    ?.approve("c1", { type: "allow" })
    .result()
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    metadata: { decision: { type: "result", value: "paid by hand" }, outcome: "completed" }
  })
  await expect(chat?.approve("other", { type: "allow" }).result()).rejects.toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { toolCallId: "other" }
  })
  await stop()
})
