import { describe, expect, test } from "vitest"
import { search, shop } from "../double/agents.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { memory } from "../double/savingStore.ts"
import { tool } from "../../src/tool/functionTool.ts"

const check = leakCheck()

/** Starts a Troupe of the shop over a store; each call is another program. */
const program = async (store = memory(), changed: object = {}) => {
  const { adapters, options } = shop(check)
  const { troupe } = await check.troupe({ ...options, ...changed, store })
  return { adapters, troupe, store, options }
}

test("AGENT3 a chat keeps its agent over a restart, whether or not the caller gives it", async () => {
  const first = await program()
  await (await first.troupe.chat("c", { agent: "billing" })).send("hi").result()
  await first.troupe.stop()
  const { adapters, troupe } = await program(first.store, { agent: "support" })
  await (await troupe.chat("c")).send("and now?").result()
  await (await troupe.chat("c", { agent: "billing" })).send("and then?").result()
  expect([adapters.billing.requests.length, adapters.support.requests.length]).toEqual([2, 0])
})

test("AGENT3 a chat that began without an agent has none, also when the Troupe has one for new chats", async () => {
  const first = await program()
  await (await first.troupe.chat("c")).send("hi").result()
  await first.troupe.stop()
  const { adapters, troupe } = await program(first.store, { agent: "support" })
  await (await troupe.chat("c")).send("and now?").result()
  expect([adapters.troupe.requests.length, adapters.support.requests.length]).toEqual([1, 0])
})

test("AGENT3 a chat with another agent than the caller gives is refused, with the advice to hand over", async () => {
  const { troupe } = await program()
  await (await troupe.chat("c", { agent: "billing" })).send("hi").result()
  await (await troupe.chat("none")).send("hi").result()
  await expect(troupe.chat("c", { agent: "support" })).rejects.toMatchObject({
    reason: "other_agent",
    metadata: { agent: "billing" },
    message: expect.stringContaining('chat.handoff("support")') as unknown
  })
  await expect(troupe.chat("none", { agent: "support" })).rejects.toMatchObject({ reason: "other_agent" })
})

describe("AGENT5 the first caller chooses the agent of a chat without an entry", () => {
  const refused = { reason: "other_agent", metadata: { agent: "billing" } }

  test("a later caller with another agent is refused, and one with the same agent is not", async () => {
    const { adapters, troupe } = await program()
    const chat = await troupe.chat("c", { agent: "billing" })
    await expect(troupe.chat("c", { agent: "support" })).rejects.toMatchObject(refused)
    expect(await troupe.chat("c", { agent: "billing" })).toBe(chat)
    expect(await troupe.chat("c")).toBe(chat)
    await chat.send("hi").result()
    expect([adapters.billing.requests.length, adapters.support.requests.length]).toEqual([1, 0])
  })

  test.each([undefined, "support"])(
    "of callers at the same time, one agent is chosen: by default %s",
    async (agent) => {
      const { troupe } = await program(memory(), { agent })
      const looked = troupe.chat("c")
      const names = ["billing", "support", "billing", "research"]
      const settled = await Promise.allSettled(names.map((name) => troupe.chat("c", { agent: name })))
      expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"])
      expect(settled.at(-1)).toMatchObject({ reason: refused })
      expect((await (await looked).view()).agent).toBe("billing")
    }
  )

  test("a chat that has the Troupe's agent by default is given another, and one whose caller chose that agent is not", async () => {
    const { troupe } = await program(memory(), { agent: "billing" })
    await troupe.chat("default")
    expect((await (await troupe.chat("default", { agent: "support" })).view()).agent).toBe("support")
    await troupe.chat("chosen", { agent: "billing" })
    await expect(troupe.chat("chosen", { agent: "support" })).rejects.toMatchObject(refused)
  })

  test("a choice that fails is none, and a handoff changes the agent for later callers", async () => {
    let fails = true
    const store = memory()
    const load = store.load.bind(store)
    const { troupe } = await program({
      ...store,
      load: (id: string) => (fails ? Promise.reject(new Error("disk")) : load(id))
    })
    const both = ["billing", "support"].map((agent) => troupe.chat("c", { agent }))
    for (const attempt of both) await expect(attempt).rejects.toMatchObject({ reason: "store_failed" })
    fails = false
    const chat = await troupe.chat("c", { agent: "support" })
    await chat.handoff("billing")
    expect(await troupe.chat("c", { agent: "billing" })).toBe(chat)
    await expect(troupe.chat("c", { agent: "support" })).rejects.toMatchObject(refused)
  })
})

test("AGENT3 an input that was accepted before the first entry runs with the agent it was sent to", async () => {
  const store = memory()
  const first = await program({ ...store, save: () => Promise.reject(new Error("disk")) })
  const chat = await first.troupe.chat("c", { agent: "billing" })
  expect((await chat.send("hi", { id: "m1" }).result()).haltedReason).toBe("error")
  await first.troupe.stop()
  const { adapters, troupe } = await program(store, { agent: "support" })
  const [turn] = (await troupe.chat("c")).resume()
  await turn?.result()
  expect([adapters.billing.requests.length, adapters.support.requests.length]).toEqual([1, 0])
})

test("AGENT3 the version of the definition is in the record from the next entry on", async () => {
  const first = await program()
  await (await first.troupe.chat("c", { agent: "billing" })).send("hi").result()
  await first.troupe.stop()
  const { options } = first
  const billing = { ...options.agents.billing, version: "8" }
  const { troupe, store } = await program(first.store, { agents: { ...options.agents, billing } })
  await troupe.chat("c")
  const before = await store.load("c")
  await (await troupe.chat("c")).send("again").result()
  const after = await store.load("c")
  expect([before?.agent, after?.agent]).toEqual([
    { name: "billing", version: "7" },
    { name: "billing", version: "8" }
  ])
})

test("AGENT4 a record of an agent that the code lacks does not start, loses nothing, and continues with the agent", async () => {
  const first = await program()
  await (await first.troupe.chat("c", { agent: "billing" })).send("hi").result()
  await first.troupe.stop()
  const { support, research } = first.options.agents
  const without = await program(first.store, { agents: { support: { ...support, handoffs: [] }, research } })
  const before = await first.store.history("c")
  await expect(without.troupe.chat("c")).rejects.toMatchObject({
    _tag: "SessionError",
    reason: "unknown_agent",
    metadata: { agent: "billing" }
  })
  expect(await without.troupe.history("c")).toEqual(before)
  expect((await without.troupe.list()).chats).toMatchObject([{ id: "c", seq: 2 }])
  expect(await without.troupe.at("c", 2)).toMatchObject({ agent: { name: "billing" } })
  const fork = await without.troupe.fork("c", { id: "d", agent: "support" })
  await fork.send("and you?").result()
  expect(first.adapters.support.requests).toHaveLength(1)
  await without.troupe.stop()
  const { adapters, troupe } = await program(first.store)
  await (await troupe.chat("c")).send("again").result()
  expect(adapters.billing.requests).toHaveLength(1)
})

test("a fork has the agent of its entry, or the one that the caller gives; a new conversation likewise", async () => {
  const { adapters, troupe, store } = await program()
  await (await troupe.chat("c", { agent: "billing" })).send("hi").result()
  await (await troupe.fork("c", { id: "same" })).send("hi").result()
  await (await troupe.fork("c", { id: "other", agent: "support" })).send("hi").result()
  await (await troupe.begin([], { id: "new", agent: "research" })).send("hi").result()
  expect([adapters.billing, adapters.support, adapters.research].map(({ requests }) => requests.length)).toEqual([
    2, 1, 1
  ])
  const records = await Promise.all(["same", "other", "new"].map(async (id) => store.load(id)))
  expect(records.map((record) => record?.agent?.name)).toEqual(["billing", "support", "research"])
})

test("a rewind restores the agent of its entry; the empty beginning keeps the present one", async () => {
  const { troupe, store } = await program()
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("hi").result()
  await chat.send("please !handoff_to_billing").result()
  const names = async () => (await store.load("c"))?.agent?.name
  expect(await names()).toBe("billing")
  await troupe.rewind("c", 2)
  expect(await names()).toBe("support")
  await troupe.rewind("c", 0)
  expect(await names()).toBe("support")
})

test("DEC3 a call of a tool that the code lacks cannot be allowed, and still waits", async () => {
  const wipe = tool({ name: "wipe", execute: () => "wiped" })
  const asking = { tools: [search, wipe], permissions: { ask: () => "suspend" as const } }
  const first = await program(memory(), asking)
  const asked = await (await first.troupe.chat("c")).send("please !wipe").result()
  expect(asked.haltedReason).toBe("awaiting_approval")
  await first.troupe.stop()
  const { troupe } = await program(first.store)
  const chat = await troupe.chat("c")
  expect(() => chat.approve("c0", { type: "allow" })).toThrow(
    expect.objectContaining({
      _tag: "SessionError",
      reason: "unknown_tool",
      metadata: { toolName: "wipe", toolCallId: "c0" }
    })
  )
  expect((await chat.view()).approvals).toHaveLength(1)
  await troupe.stop()
  const again = await program(first.store, asking)
  await (await again.troupe.chat("c")).approve("c0", { type: "allow" }).result()
  expect((await first.store.load("c"))?.thread.messages[2]).toMatchObject({ content: "wiped" })
})
