import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { refund, shop, speaking } from "../double/agents.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said, says } from "../double/scripts.ts"
import { text } from "../../src/model/Message.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** Starts a Troupe of the shop over a store; each call is another program. */
const program = async (store: SessionStore = memory(), changed: Partial<TroupeOptions> = {}) => {
  const { adapters, options } = shop(check)
  const { troupe, clock } = await check.troupe({ ...options, ...changed, store })
  return { adapters, troupe, clock, store, options }
}

/** The name of the agent in each entry, the oldest first. */
const agentsOf = async (store: SessionStore): Promise<ReadonlyArray<string | undefined>> =>
  (await store.history("c")).map(({ state }) => state.agent?.name)

test("CHAT16 a handoff of the model is in the entry of its step, and the next request of the turn is of the new agent", async () => {
  const { adapters, troupe, store } = await program()
  const chat = await troupe.chat("c", { agent: "support" })
  const result = await chat.send("please !handoff_to_billing").result()
  expect(result.finalResponse?.outputText).toBe("billing")
  expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  expect(said(chat.thread.messages[2])).toBe("The conversation continues with billing.")
  expect(await agentsOf(store)).toEqual(["support", "billing", "billing"])
  expect((await store.load("c"))?.agent).toEqual({ name: "billing", version: "7" })
  expect(adapters.billing.requests).toMatchObject([
    { model: "big", tools: [{ name: "refund" }, { name: "handoff_to_support" }] }
  ])
  await chat.send("and now?").result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([1, 2])
})

test("CHAT16 agents hand over back and forth, in one turn and over a restart", async () => {
  const store = memory()
  const first = await program(store)
  await (await first.troupe.chat("c", { agent: "support" })).send("please !handoff_to_billing").result()
  await first.troupe.stop()
  const { adapters, troupe } = await program(store)
  const chat = await troupe.chat("c")
  await chat.send("please !handoff_to_support").result()
  await chat.send("please !handoff_to_billing").result()
  await chat.send("and now?").result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([2, 3])
  expect((await agentsOf(store)).at(-1)).toBe("billing")
})

test("HANDOFF1 a target that the definition does not list is no tool of the model, and the agent stays", async () => {
  const { adapters, troupe, store } = await program()
  const chat = await troupe.chat("c", { agent: "support" })
  const result = await chat.send("please !handoff_to_research").result()
  expect(chat.thread.messages[2]).toMatchObject({ role: "tool", outcome: "not_found" })
  expect([result.finalResponse?.outputText, adapters.research.requests.length]).toEqual(["support", 0])
  expect((await store.load("c"))?.agent?.name).toBe("support")
})

test("HANDOFF2 of two handoffs in one message the last counts, and one that was not allowed does not", async () => {
  const { options, adapters } = shop(check)
  const support = { ...options.agents.support, handoffs: ["billing", "research"] }
  const agents = { ...options.agents, support }
  const { troupe } = await check.troupe({ ...options, agents })
  await (await troupe.chat("c", { agent: "support" })).send("!handoff_to_billing !handoff_to_research").result()
  expect([adapters.billing.requests.length, adapters.research.requests.length]).toEqual([0, 1])
  const denying = { ...agents, support: { ...support, permissions: { deny: ["handoff_to_research"] } } }
  const { troupe: strict } = await check.troupe({ ...options, agents: denying })
  await (await strict.chat("c", { agent: "support" })).send("!handoff_to_billing !handoff_to_research").result()
  expect([adapters.billing.requests.length, adapters.research.requests.length]).toEqual([1, 1])
})

test("HANDOFF2 of two handoffs in one message the last counts, also when the first is decided later", async () => {
  const { options, adapters } = shop(check)
  const permissions = {
    ask: ({ toolCall }: { toolCall: { name: string } }) => (toolCall.name.endsWith("billing") ? "suspend" : "allow")
  } as const
  const support = { ...options.agents.support, handoffs: ["billing", "research"], permissions }
  const { troupe } = await check.troupe({ ...options, agents: { ...options.agents, support } })
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("!handoff_to_billing !handoff_to_research").result()
  await chat.approve("c0", { type: "allow" }).result()
  expect([adapters.billing.requests.length, adapters.research.requests.length]).toEqual([0, 1])
})

test.each(["at once", "after a restart"])(
  "HANDOFF3 the result that a person gives for a handoff is the result of the call, and the agent stays: %s",
  async (when) => {
    const store = memory()
    const { options, adapters } = shop(check)
    const permissions = { ask: () => "suspend" as const }
    const agents = { ...options.agents, support: { ...options.agents.support, permissions } }
    const first = await check.troupe({ ...options, agents, store })
    await (await first.troupe.chat("c", { agent: "support" })).send("!handoff_to_billing").result()
    if (when === "after a restart") await first.troupe.stop()
    const { troupe } = when === "at once" ? first : await check.troupe({ ...options, agents, store })
    const chat = await troupe.chat("c")
    const result = await chat.approve("c0", { type: "result", value: "Billing is closed." }).result()
    expect(said(chat.thread.messages[2])).toBe("Billing is closed.")
    expect([result.finalResponse?.outputText, adapters.billing.requests.length]).toEqual(["support", 0])
    expect((await store.load("c"))?.agent?.name).toBe("support")
  }
)

test("HANDOFF3 beside a handoff that was allowed, one with a given result does not count, also when it is the last", async () => {
  const { options, adapters } = shop(check)
  const permissions = { ask: () => "suspend" as const }
  const support = { ...options.agents.support, handoffs: ["billing", "research"], permissions }
  const { troupe } = await check.troupe({ ...options, agents: { ...options.agents, support } })
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("!handoff_to_billing !handoff_to_research").result()
  await chat.approve("c1", { type: "result", value: "Research is closed." }).result()
  await chat.approve("c0", { type: "allow" }).result()
  expect([adapters.billing.requests.length, adapters.research.requests.length]).toEqual([1, 0])
})

test("CHAT16 calls that wait when the model hands over belong to its agent, also after a restart", async () => {
  const store = memory()
  const { options, adapters } = shop(check)
  const asks = {
    permissions: {
      ask: ({ toolCall }: { toolCall: { name: string } }) => (toolCall.name === "wipe" ? "suspend" : "allow")
    }
  } as const
  const wipe = tool({ name: "wipe", execute: () => "wiped" })
  const agents = { ...options.agents, support: { ...options.agents.support, ...asks, tools: [wipe] } }
  const first = await check.troupe({ ...options, agents, store })
  const asked = await (await first.troupe.chat("c", { agent: "support" })).send("!wipe !handoff_to_billing").result()
  expect(asked.haltedReason).toBe("awaiting_approval")
  expect((await store.load("c"))?.agent?.name).toBe("billing")
  await first.troupe.stop()
  const { troupe } = await check.troupe({ ...options, agents, store })
  const chat = await troupe.chat("c")
  expect((await chat.view()).approvals).toMatchObject([{ toolCall: { name: "wipe" } }])
  const result = await chat.approve("c0", { type: "allow" }).result()
  expect(chat.thread.messages.map((message) => text(message)).slice(2)).toEqual([
    "wiped",
    "The conversation continues with billing.",
    "billing"
  ])
  expect([result.finalResponse?.outputText, adapters.billing.requests.length]).toEqual(["billing", 1])
})

test("a question beside a handoff is answered to the new agent", async () => {
  const { options, adapters } = shop(check)
  const ask = tool({ name: "ask", effect: "read", execute: () => askUser("Which invoice?") })
  const agents = { ...options.agents, support: { ...options.agents.support, tools: [ask] } }
  const { troupe } = await check.troupe({ ...options, agents })
  const chat = await troupe.chat("c", { agent: "support" })
  expect((await chat.send("!ask !handoff_to_billing").result()).haltedReason).toBe("ask_user")
  await chat.send("The last").result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([1, 1])
})

test("ENV2 a handoff that is over while another call runs is in the record of the intent, and survives the program", async () => {
  const store = memory()
  const { options, adapters } = shop(check)
  const { promise: never } = Promise.withResolvers<never>()
  const pay = tool({ name: "pay", onUnknown: "fail", execute: () => never })
  const note = tool({ name: "note", execute: () => "noted" })
  const agents = { ...options.agents, support: { ...options.agents.support, tools: [pay, note] } }
  const first = await check.troupe({ ...options, agents, store, drainMs: 1 })
  const chat = await first.troupe.chat("c", { agent: "support" })
  const turn = chat.send("!handoff_to_billing !note !pay")
  await until(
    () =>
      chat.getSnapshot()?.context.toolCalls.some(({ name, status }) => name === "pay" && status === "running") === true
  )
  await hop()
  const left = await store.load("c")
  expect(left).toMatchObject({ agent: { name: "billing" }, open: { agent: "support" }, running: true })
  await chat.leave()
  await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
  const { troupe } = await check.troupe({ ...options, agents, store })
  const again = await troupe.chat("c")
  await again.retry().result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([1, 1])
})

test("JOUR6 a handoff whose result came after the save survives the death of the chat's process", async () => {
  const store = memory()
  const { options, adapters } = shop(check)
  const { promise: never } = Promise.withResolvers<never>()
  const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
  const hooks = { PostToolUse: [{ match: "handoff", hooks: [() => gate] }] }
  const pay = tool({ name: "pay", onUnknown: "fail", execute: () => never })
  const agents = { ...options.agents, support: { ...options.agents.support, tools: [pay] } }
  const { troupe } = await check.troupe({ ...options, agents, store, hooks, schedule: "concurrent", drainMs: 1 })
  const chat = await troupe.chat("c", { agent: "support" })
  const turn = chat.send("!pay !handoff_to_billing")
  const statusOf = (called: string) => chat.getSnapshot()?.context.toolCalls.find(({ name }) => name === called)?.status
  await until(() => statusOf("pay") === "running")
  expect((await store.load("c"))?.agent?.name).toBe("support")
  open(undefined)
  await until(() => statusOf("handoff_to_billing") === "done")
  const { pid } = chat
  if (pid !== undefined) Process.kill(pid)
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  await until(() => chat.pid !== undefined && chat.pid !== pid)
  await chat.retry().result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([1, 1])
  expect((await store.load("c"))?.agent?.name).toBe("billing")
})

test("CHAT16 a handoff of the host at rest is one entry, and counts from the next request on", async () => {
  const store = memory()
  const first = await program(store)
  const chat = await first.troupe.chat("c", { agent: "support" })
  await chat.send("hi").result()
  const before = await store.history("c")
  await chat.handoff("billing")
  const after = await store.history("c")
  expect([after.length - before.length, after.at(-1)?.messages, after.at(-1)?.state.agent?.name]).toEqual([
    1,
    [],
    "billing"
  ])
  expect((await chat.view()).agent).toBe("billing")
  await first.troupe.stop()
  const { adapters, troupe } = await program(store)
  await (await troupe.chat("c")).send("hi").result()
  expect([adapters.support.requests.length, adapters.billing.requests.length]).toEqual([0, 1])
  await expect((await troupe.chat("c")).handoff("biling")).rejects.toThrow(/did you mean billing\?/)
  await expect((await troupe.chat("c")).handoff(1 as unknown as string)).rejects.toThrow(/agent: must_be_a_string/)
})

test("CHAT16 a handoff of the host to a chat without an agent gives it one", async () => {
  const { adapters, troupe, store } = await program()
  const chat = await troupe.chat("c")
  await chat.send("hi").result()
  await chat.handoff("research")
  await chat.send("hi").result()
  expect(await agentsOf(store)).toEqual([undefined, undefined, "research", "research", "research"])
  expect([adapters.troupe.requests.length, adapters.research.requests.length]).toEqual([1, 1])
})

test("CHAT16 a handoff of the host during a turn counts from the next request of the turn on", async () => {
  const { options, adapters } = shop(check)
  const store = memory()
  const { promise: slow, resolve: over } = Promise.withResolvers<string>()
  const look = tool({ name: "look", effect: "read", execute: () => slow })
  const agents = { ...options.agents, support: { ...options.agents.support, tools: [look] } }
  const { troupe } = await check.troupe({ ...options, agents, store })
  const chat = await troupe.chat("c", { agent: "support" })
  const turn = chat.send("!look")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  await chat.handoff("billing")
  expect((await store.load("c"))?.agent?.name).toBe("billing")
  over("seen")
  const result = await turn.result()
  expect([result.finalResponse?.outputText, adapters.support.requests.length]).toEqual(["billing", 1])
})

test("CHAT16 a handoff of the host while the store commits is stored after that commit", async () => {
  const { options } = shop(check)
  const store = memory()
  let holds = false
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const slow: SavingStore = {
    ...store,
    save: async (record, precondition) => {
      if (holds) await held
      return store.save(record, precondition)
    }
  }
  const { troupe } = await check.troupe({ ...options, store: slow })
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("hi").result()
  holds = true
  const turn = chat.send("again")
  await until(() => chat.getSnapshot()?.context.phase === "committing")
  const handed = chat.handoff("billing")
  await hop()
  release()
  await handed
  expect((await store.load("c"))?.agent?.name).toBe("billing")
  await turn.result()
  expect((await store.load("c"))?.agent?.name).toBe("billing")
})

test("the time of an agent and its other bounds count for the whole turn", async () => {
  const { options } = shop(check)
  const hangs = check.fake({ respond: () => [{ text: "…" }, { hang: true }] })
  const billing = { ...options.agents.billing, adapter: hangs, budget: { timeMs: 1_000 } }
  const { troupe, clock } = await check.troupe({ ...options, agents: { ...options.agents, billing } })
  const chat = await troupe.chat("c", { agent: "support" })
  const turn = chat.send("!handoff_to_billing")
  await until(() => hangs.open === 1)
  await clock.advance(1_001)
  expect((await turn.result()).haltedReason).toBe("budget_time")
  const short = { ...options.agents.billing, maxTurns: 1 }
  const { troupe: other } = await check.troupe({ ...options, agents: { ...options.agents, billing: short } })
  const ended = await (await other.chat("c", { agent: "support" })).send("!handoff_to_billing").result()
  expect(ended.haltedReason).toBe("max_turns")
})

test("a permission mode is that of the agent until somebody sets one, and the view names agent and mode", async () => {
  const { options } = shop(check)
  const agents = { ...options.agents, billing: { ...options.agents.billing, permissions: { mode: "plan" } } } as const
  const { troupe } = await check.troupe({ ...options, agents })
  const chat = await troupe.chat("c", { agent: "support" })
  expect(await chat.view()).toMatchObject({ agent: "support", permissionMode: "default" })
  await chat.send("!handoff_to_billing").result()
  expect(await chat.view()).toMatchObject({ agent: "billing", permissionMode: "plan" })
  await chat.send("!refund").result()
  expect(chat.thread.messages.at(-2)).toMatchObject({ role: "tool", outcome: "denied" })
  await chat.setPermissionMode("trusted")
  await chat.handoff("support")
  expect(await chat.view()).toMatchObject({ agent: "support", permissionMode: "trusted" })
})

test("SENDMODEL1 the model of a send applies to one turn, and not to the request of another agent", async () => {
  const { adapters, troupe } = await program()
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("!handoff_to_billing", { model: "small" }).result()
  await chat.send("and now?").result()
  expect(adapters.support.requests.map(({ model }) => model)).toEqual(["small"])
  expect(adapters.billing.requests.map(({ model }) => model)).toEqual(["big", "big"])
  await chat.send("and now?", { model: "huge" }).result()
  expect(adapters.billing.requests.at(-1)?.model).toBe("huge")
})

test("SENDMODEL1 the model of a send survives a restart while the input waits", async () => {
  const store = memory()
  const options = { adapter: speaking(check, "one"), model: "usual", tools: [refund] }
  const hangs = check.fake({ respond: () => [{ text: "…" }, { hang: true }] })
  const first = await check.troupe({ ...options, adapter: hangs, store })
  const chat = await first.troupe.chat("c")
  chat.send("hi", { id: "m1" })
  await until(() => hangs.open === 1)
  await chat.send("later", { id: "m2", model: "small" }).receipt
  await first.troupe.stop()
  expect((await store.load("c"))?.inbox).toMatchObject([{ id: "m2", model: "small" }])
  const adapter = check.fake({ respond: () => says("done") })
  const { troupe } = await check.troupe({ ...options, adapter, store })
  const again = await troupe.chat("c")
  await again.resume()[0]?.result()
  await again.send("and now?").result()
  expect(adapter.requests.map(({ model }) => model)).toEqual(["small", "usual"])
})

test("the model of a send must be a name", async () => {
  const { troupe } = await program()
  const chat = await troupe.chat("c")
  expect(() => chat.send("hi", { model: "" })).toThrow(/model: must_be_a_non_empty_string, the name of a model/)
  expect(() => chat.send("hi", { modle: "a" } as object)).toThrow(/did you mean model\?/)
})

test("CHAT16 a handoff of the host stays while a call runs that waited beside a handoff of the model", async () => {
  const { options } = shop(check)
  const store = memory()
  const wiping = Promise.withResolvers<string>()
  let runs = 0
  const wipe = tool({ name: "wipe", execute: () => ((runs += 1), wiping.promise) })
  const permissions = {
    ask: ({ toolCall }: { toolCall: { name: string } }) => (toolCall.name === "wipe" ? "suspend" : "allow")
  } as const
  const agents = { ...options.agents, support: { ...options.agents.support, permissions, tools: [wipe] } }
  const { troupe } = await check.troupe({ ...options, agents, store })
  const chat = await troupe.chat("c", { agent: "support" })
  await chat.send("!wipe !handoff_to_billing").result()
  await chat.handoff("research")
  const turn = chat.approve("c0", { type: "allow" })
  await until(() => runs === 1)
  expect((await store.load("c"))?.agent?.name).toBe("research")
  wiping.resolve("wiped")
  await turn.result()
  expect((await store.load("c"))?.agent?.name).toBe("research")
})
