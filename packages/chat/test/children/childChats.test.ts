import { Observer, Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn, delegates, delegation } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { message } from "../../src/agents/messageTools.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { text } from "../../src/model/Message.ts"
import { tool } from "../../src/tool/functionTool.ts"

const check = leakCheck()

const answering = (request: Parameters<Parameters<typeof delegates>[1]>[0]) =>
  says(`${text(request.messages.at(-1) ?? { role: "user", content: "" })} done`)

/** The live children. */
const liveChildren = (troupe: RunningTroupe): ReadonlyArray<string> =>
  Array.from(livingChatsOf(troupe).keys()).filter((id) => id.includes("/~/"))

test("SUB1 a call of the tool runs a child chat of the agent, and its last text is the result of the call", async () => {
  const { adapters, troupe, store } = await delegates(check, answering)
  const chat = await troupe.chat("c")
  const result = await chat.send("please !dig").result()
  expect(result.finalResponse?.outputText).toBe("boss: dig done")
  expect(adapters.research.requests).toHaveLength(1)
  const [id = ""] = await childrenIn(store)
  expect(await store.load(id)).toMatchObject({
    agent: { name: "research", version: "1" },
    parent: { chat: "c", call: "c0", depth: 1 },
    thread: { messages: [{ content: "dig" }, { content: "dig done" }] }
  })
})

/** The processes below a process. */
const below = (nodes: ReadonlyArray<Observer.Node>, of: unknown): ReadonlyArray<Observer.Node> =>
  nodes.flatMap(({ pid, children }) => (pid === of ? children : below(children, of)))

test("SUB3 the process of a child is below that of its parent, and SUB4 has ended when its call ends", async () => {
  const { troupe } = await delegates(check, () => [{ text: "hm" }, { hang: true }])
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig")
  await until(() => liveChildren(troupe).some((id) => livingChatsOf(troupe).get(id)?.chat.state.text === "hm"))
  const [id = ""] = liveChildren(troupe)
  const child = livingChatsOf(troupe).get(id)?.chat.pid
  const supervisor = below(Observer.tree(troupe.system), chat.pid).find(({ label }) => label === "SubagentSupervisor")
  expect(supervisor?.children.map(({ pid }) => pid)).toEqual([child])
  await chat.cancelToolCalls()
  expect((await turn.result()).finalResponse?.outputText).toContain("cancelled")
  expect(child && Process.isAlive(child)).toBe(false)
  expect(liveChildren(troupe)).toEqual([])
})

test("SUB1 calls of one message run their children at the same time, each with its own", async () => {
  const { adapters, troupe, store } = await delegates(check, answering)
  const result = await (await troupe.chat("c")).send("please !dig and !dive").result()
  expect(result.finalResponse?.outputText).toBe("boss: dig done and dive done")
  expect(adapters.research.requests).toHaveLength(2)
  expect(await childrenIn(store)).toHaveLength(2)
})

test("SUB2 more children than the bound are refused, and the model reads why", async () => {
  const { adapters, troupe } = await delegates(check, answering, { tool: { maxChildren: 1 } })
  const result = await (await troupe.chat("c")).send("please !dig and !dive").result()
  expect(result.finalResponse?.outputText).toMatch(/^boss: dig done and .*1 agents run for this chat, and no more may/)
  expect(adapters.research.requests).toHaveLength(1)
})

test("SUB2 a child deeper than the bound is refused, and its parent reads why", async () => {
  const own = subagent("research", { maxDepth: 2 })
  const { adapters, options } = delegation(check, (request) => {
    const last = request.messages.at(-1)
    return last?.role === "tool" ? says(text(last)) : calls(["research", { input: "deeper" }])
  })
  const { troupe } = await check.troupe({
    ...options,
    tools: [own],
    agents: { research: { adapter: adapters.research, tools: [own] } }
  })
  const result = await (await troupe.chat("c")).send("please !dig").result()
  expect(result.finalResponse?.outputText).toContain("a chat may have 2 levels of agents below it")
  expect(adapters.research.requests).toHaveLength(4)
})

test("SUB3 a child that crashes is restarted, and the call goes on", async () => {
  let asked = 0
  const { troupe } = await delegates(check, () => ((asked += 1) === 1 ? [{ hang: true }] : says("found")))
  const turn = (await troupe.chat("c")).send("please !dig")
  await until(() => asked === 1)
  const [id = ""] = liveChildren(troupe)
  const pid = livingChatsOf(troupe).get(id)?.chat.pid
  if (pid !== undefined) Process.exit(pid, "broken")
  expect((await turn.result()).finalResponse?.outputText).toBe("boss: found")
})

test("SUB3 when the process of the parent dies the child ends with it, and SUB5 a retry continues the same child", async () => {
  let asked = 0
  const { troupe, store } = await delegates(check, () => ((asked += 1) === 1 ? [{ hang: true }] : says("found")))
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig")
  await until(() => asked === 1)
  const [id = ""] = liveChildren(troupe)
  const child = livingChatsOf(troupe).get(id)?.chat.pid
  if (chat.pid !== undefined) Process.exit(chat.pid, "broken")
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  await until(() => child !== undefined && !Process.isAlive(child))
  const result = await (await troupe.chat("c")).retry().result()
  expect(result.finalResponse?.outputText).toBe("boss: found")
  expect(await childrenIn(store)).toEqual([id])
})

test("SUB5 after a restart of the program the same child goes on, and no call that writes runs twice", async () => {
  let written = 0
  const write = tool({ name: "write", execute: () => (written += 1), effect: "write" })
  const research = (request: Parameters<Parameters<typeof delegates>[1]>[0]) => {
    if (request.messages.at(-1)?.role === "user") return calls("write")
    return written === 1 && !isSecond ? [{ hang: true as const }] : says("written")
  }
  let isSecond = false
  const agentsOf = (adapter: NonNullable<Parameters<typeof delegation>[2]>["adapter"]) => ({
    research: { adapter, tools: [write] }
  })
  const first = await delegates(check, research, {
    agents: agentsOf(check.fake({ respond: research }))
  })
  ;(await first.troupe.chat("c")).send("please !dig")
  await until(() => written === 1)
  await hop()
  await first.troupe.stop()
  isSecond = true
  const { troupe, store } = await delegates(check, research, {
    agents: agentsOf(check.fake({ respond: research })),
    kept: first.store
  })
  const result = await (await troupe.chat("c")).retry().result()
  expect(result.finalResponse?.outputText).toBe("boss: written")
  expect(written).toBe(1)
  const [id = ""] = await childrenIn(store)
  expect((await store.load(id))?.thread.messages.map(said)).toEqual(["dig", "", "1", "written"])
})

test("SUB4 a stop of the parent ends the child too", async () => {
  const { troupe } = await delegates(check, () => [{ hang: true }])
  const chat = await troupe.chat("c")
  chat.send("please !dig")
  await until(() => liveChildren(troupe).length === 1)
  await chat.stop()
  await hop()
  expect(liveChildren(troupe)).toEqual([])
})

test("a tool of an agent that the Troupe lacks is refused at the start, and a copy of the tool as well", async () => {
  const { options } = delegation(check, answering)
  const unknown = subagent("reserch")
  for (const tools of [[unknown], [{ ...unknown, timeoutMs: 5_000 }]]) {
    await expect(check.troupe({ ...options, tools })).rejects.toThrow(
      /tools\.0: starts the agent reserch, which is unknown; did you mean research\?/
    )
  }
})

test("a tool that addresses an agent that the Troupe lacks is refused at the start", async () => {
  const { options } = delegation(check, answering)
  const tools = [message({ to: ["parent", "team", "reserch"] })]
  await expect(check.troupe({ ...options, tools })).rejects.toThrow(
    /tools\.0: addresses the agent reserch, which is unknown; did you mean research\?/
  )
})

test("SUB6 a list leaves children out unless it is asked for them, and a deletion removes them with their root", async () => {
  const { troupe, store } = await delegates(check, answering)
  await (await troupe.chat("c")).send("please !dig and !dive").result()
  const idsOf = async (options?: object) => (await troupe.list(options)).chats.map(({ id }) => id)
  expect(await idsOf()).toEqual(["c"])
  expect(await idsOf({ children: true })).toHaveLength(3)
  await troupe.delete("c")
  expect((await store.list({ children: true })).chats).toEqual([])
})

test("SUB6 only its call uses the conversation of a child; anyone reads its history", async () => {
  const { troupe, store } = await delegates(check, answering)
  await (await troupe.chat("c")).send("please !dig").result()
  const [id = ""] = await childrenIn(store)
  const uses = [
    troupe.chat(id),
    troupe.begin([], { id }),
    troupe.fork("c", { id }),
    troupe.rewind(id, 1),
    troupe.delete(id)
  ]
  for (const use of uses) await expect(use).rejects.toThrow(/only its call uses/)
  expect((await troupe.history(id)).length).toBeGreaterThan(0)
  const fork = await troupe.fork(id, { id: "own" })
  expect(await store.load(fork.id)).not.toHaveProperty("parent")
})

test("SUB6 an id that makes the children of a chat those of another one is refused", async () => {
  const { troupe } = await delegates(check, answering)
  for (const use of [troupe.chat("c/~"), troupe.begin([], { id: "c/~" })]) {
    await expect(use).rejects.toThrow(/must_not_end_with \/~/)
  }
})
