/** Sub-agents that work in the background. */
import { expect, test } from "vitest"
import { Process } from "@troupe/otp"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Agents } from "../../src/agents.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { ToolContext } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const boss = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  return said(last) === "go" ? calls(["research", { input: "dig" }]) : says(`boss read ${said(last)}`)
}

const research = ({ messages }: Request): Script =>
  said(messages.at(-1)) === "dig" ? calls("wait") : says(`found ${said(messages.at(-1))}`)

const delegating = (
  wait: (context: ToolContext) => unknown,
  store = memory(),
  options: Partial<Parameters<typeof tool>[0]> = { effect: "read" }
) =>
  check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research", { background: true })],
    agents: {
      research: {
        adapter: check.fake({ respond: research }),
        tools: [tool({ name: "wait", ...options, execute: (_, context) => wait(context) })]
      }
    },
    store,
    passivateAfterMs: 1_000,
    drainMs: 10
  })

const aborted = ({ signal }: ToolContext) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

test("BG3 a sub-agent in the background works below its task, and its answer comes as a message", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, clock } = await delegating(() => gold.promise)
  const chat = await troupe.chat("c")
  const result = await chat.send("go").result()
  expect(result.haltedReason).toBe("completed")
  await until(() => livingChatsOf(troupe).size === 2)
  const [id = ""] = Array.from(livingChatsOf(troupe).keys()).filter((found) => found !== "c")
  const child = livingChatsOf(troupe).get(id)?.chat
  await until(() => child?.context?.turn !== undefined)
  expect((await chat.tasks())[0]).toMatchObject({ tool: "research", progress: { chat: id, agent: "research" } })
  for (let turn = 0; turn < 8; turn++) await clock.advance(500)
  expect(troupe.isAlive("c")).toBe(true)
  gold.resolve("gold")
  await until(() => said(chat.thread.messages.at(-1)).startsWith("boss read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: done.\nfound gold")
  await until(() => !troupe.isAlive(id))
})

test("BG4 the next program continues the conversation of a sub-agent in the background", async () => {
  const store = memory()
  let runs = 0
  const first = await delegating((context) => ((runs += 1), aborted(context)), store)
  await (await first.troupe.chat("c")).send("go").result()
  await until(() => runs === 1)
  await first.troupe.stop()
  const second = await delegating(() => "silver", store)
  await until(() => second.troupe.isAlive("c"))
  const chat = await second.troupe.chat("c")
  await until(() => said(chat.thread.messages.at(-1)).startsWith("boss read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: done.\nfound")
  expect((await store.list({ prefix: "c/~/" })).chats).toHaveLength(1)
})

test("BG10 a sub-agent whose call may have taken effect when its program ended makes its task wait", async () => {
  const store = memory()
  let runs = 0
  const never = () => ((runs += 1), new Promise(() => {}))
  const first = await delegating(never, store, { onUnknown: "ask" })
  await (await first.troupe.chat("c")).send("go").result()
  await until(() => runs === 1)
  const chats = Array.from(livingChatsOf(first.troupe).values(), ({ chat }) => chat.pid)
  for (const pid of chats) if (pid !== undefined) Process.kill(pid)
  const chat = await first.troupe.chat("c")
  await until(() => chat.getSnapshot()?.context.pendingApprovals.length === 1)
  expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([
    { kind: "unknown_outcome", toolCall: { id: "c0/~/c0", name: "wait" } }
  ])
  await chat.approve("c0/~/c0", { type: "result", value: "it did" }).result()
  await until(() => said(chat.thread.messages.at(-1)).startsWith("boss read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: done.\nfound it did")
  expect(runs).toBe(1)
})

test("BG4 a task whose agent the code lacks has ended interrupted, and its chat starts", async () => {
  const store = memory()
  let runs = 0
  const crawl = tool({
    name: "crawl",
    background: true,
    effect: "read",
    execute: (_, context) => ((runs += 1), aborted(context))
  })
  const answering = ({ messages }: Request): Script =>
    said(messages.at(-1)) === "go" ? calls("crawl") : says(`read ${said(messages.at(-1))}`)
  const program = (agents: Agents) =>
    check.troupe({ adapter: check.fake({ respond: answering }), agents, store, drainMs: 10 })
  const first = await program({ scout: { tools: [crawl] }, desk: { tools: [] } })
  const chat = await first.troupe.chat("c", { agent: "scout" })
  await chat.send("go").result()
  await until(() => runs === 1)
  await chat.handoff("desk")
  await first.troupe.stop()
  const second = await program({ desk: { tools: [] } })
  const again = await second.troupe.chat("c")
  await until(() => said(again.thread.messages.at(-1)).startsWith("read The background task"))
  expect(said(again.thread.messages.at(-1))).toContain("has ended: interrupted.")
  expect(await again.tasks()).toEqual([])
  expect(runs).toBe(1)
})

test("SUB9 a mode that a call of the parent sets applies to its sub-agent in the background", async () => {
  const gold = Promise.withResolvers<string>()
  const written: Array<number> = []
  const tighten = tool({
    name: "tighten",
    execute: (_, { setPermissionMode }) => setPermissionMode("plan").then(() => "tight")
  })
  const wait = tool({ name: "wait", effect: "read", execute: () => gold.promise })
  const write = tool({ name: "write", execute: () => written.push(1) })
  const texts = new Map<string, Script>([
    ["go", calls(["research", { input: "dig" }])],
    ["dig", calls("wait")],
    ["gold", calls("write")],
    ["plan", calls("tighten")]
  ])
  const respond = ({ messages }: Request): Script => texts.get(said(messages.at(-1))) ?? says(said(messages.at(-1)))
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond }),
    tools: [subagent("research", { background: true }), tighten],
    permissions: { mode: "acceptEdits" },
    agents: { research: { adapter: check.fake({ respond }), tools: [wait, write] } },
    store: memory(),
    drainMs: 10
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => livingChatsOf(troupe).size === 2)
  await chat.send("plan").result()
  gold.resolve("gold")
  await until(() => chat.thread.messages.some((message) => said(message).includes("may not run while planning")))
  expect(written).toEqual([])
})

test("TASKREVIVE1 a tool of an agent whose name another tool has too can have tasks", async () => {
  const store = memory()
  let runs = 0
  const crawl = (work: (context: ToolContext) => unknown) =>
    tool({ name: "crawl", background: true, effect: "read", execute: (_, context) => ((runs += 1), work(context)) })
  const respond = ({ messages }: Request): Script =>
    said(messages.at(-1)) === "go" ? calls("crawl") : says(`read ${said(messages.at(-1))}`)
  const program = (work: (context: ToolContext) => unknown) =>
    check.troupe({
      adapter: check.fake({ respond }),
      tools: [tool({ name: "crawl", execute: () => "at once" })],
      agents: { scout: { tools: [crawl(work)] } },
      store,
      drainMs: 10
    })
  const first = await program(aborted)
  await (await first.troupe.chat("c", { agent: "scout" })).send("go").result()
  await until(() => runs === 1)
  await first.troupe.stop()
  const second = await program(() => "silver")
  await until(() => second.troupe.isAlive("c"))
  const chat = await second.troupe.chat("c")
  await until(() => said(chat.thread.messages.at(-1)).startsWith("read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: done.\nsilver")
})

test("SUB7 the usage of a sub-agent in the background that misses its deadline counts for its chat", async () => {
  const store = memory()
  let runs = 0
  const wait = tool({ name: "wait", effect: "read", execute: (_, context) => ((runs += 1), aborted(context)) })
  const spending = (request: Request): Script => [{ usage: { totalTokens: 100 } }, ...research(request)]
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research", { background: true, timeoutMs: 1_000 })],
    agents: { research: { adapter: check.fake({ respond: spending }), tools: [wait] } },
    store,
    drainMs: 10
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => runs === 1)
  await clock.advance(1_000)
  await until(() => said(chat.thread.messages.at(-1)).startsWith("boss read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: timed_out.")
  await chat.send("and now?").result()
  expect((await store.load("c"))?.usage).toMatchObject({ totalTokens: 100 })
})

test("SUB7 the usage of a sub-agent in the background counts for its chat, which was stopped meanwhile", async () => {
  const gold = Promise.withResolvers<string>()
  const store = memory()
  const spending = (request: Request): Script => [{ usage: { totalTokens: 100 } }, ...research(request)]
  const wait = tool({ name: "wait", effect: "read", execute: () => gold.promise })
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research", { background: true })],
    agents: { research: { adapter: check.fake({ respond: spending }), tools: [wait] } },
    store,
    drainMs: 10
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => livingChatsOf(troupe).size === 2)
  await chat.stop()
  gold.resolve("gold")
  await until(() => troupe.isAlive("c"))
  const again = await troupe.chat("c")
  await until(() => said(again.thread.messages.at(-1)).startsWith("boss read The background task"))
  await until(() => again.getSnapshot()?.context.phase === "idle")
  expect((await store.load("c"))?.usage).toMatchObject({ totalTokens: 200 })
})
