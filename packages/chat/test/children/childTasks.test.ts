/** The background tasks of sub-agents. */
import { expect, test } from "vitest"
import { Process } from "@troupe/otp"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn, withoutId } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { tasks as taskTools } from "../../src/agents/taskTools.ts"
import type { AgentDefinition } from "../../src/agents/AgentDefinition.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Tool, ToolContext } from "../../src/tool/toolContract.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** A model that calls the tools that its task names, and answers all else with what it has read. */
const works = (name: string) => {
  return ({ messages }: Request): Script => {
    const last = messages.at(-1)
    const text = last === undefined ? "" : withoutId(last)
    const [verb = "", ...named] = text.split(" ")
    if (verb === "go") return calls(...named.map((one) => [one, { input: `go ${inputs[one] ?? ""}`.trim() }] as const))
    return says(`${name} read ${/\nnow (\w+)/u.exec(text)?.[1] ?? text}`)
  }
}

/** The tools that each agent calls. */
const inputs: Readonly<Record<string, string>> = {
  research: "crawl",
  both: "crawl which",
  deep: "scout",
  scout: "which"
}

const aborted = ({ signal }: ToolContext) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

interface Given extends Partial<TroupeOptions> {
  readonly store?: SessionStore
  readonly crawl?: (context: ToolContext) => unknown
  readonly turnEnds?: AgentDefinition["turnEnds"]
  readonly background?: true
  readonly timeoutMs?: number
  readonly effect?: "read"
  readonly more?: ReadonlyArray<Tool>
}

/** A boss, its agents `research`, `both` and `deep`, and the agent `scout` in the background of the last one. */
const family = async ({
  store = memory(),
  crawl,
  turnEnds,
  background,
  timeoutMs,
  effect,
  more = [],
  ...options
}: Given = {}) => {
  const started: Array<string> = []
  const crawls = tool({
    name: "crawl",
    background: true,
    ...(effect !== undefined && { effect }),
    execute: (_, context) => {
      started.push(context.idempotencyKey)
      return crawl?.(context)
    }
  })
  const which = tool({ name: "which", execute: () => askUser("Which metal?") })
  const agent = (name: string, tools: ReadonlyArray<Tool>): AgentDefinition => ({
    adapter: check.fake({ respond: works(name) }),
    tools,
    turnEnds
  })
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ respond: works("boss") }),
    tools: ["research", "both", "deep"].map((one) => subagent(one, { background, timeoutMs })),
    agents: {
      research: agent("research", [crawls, ...more]),
      both: agent("both", [crawls, which]),
      deep: agent("deep", [subagent("scout", { background: true })]),
      scout: agent("scout", [which])
    },
    store,
    drainMs: 10,
    ...options
  })
  return { troupe, clock, store, started }
}

const lastOf = (chat: LocalChatRef) => said(chat.thread.messages.at(-1))

const childOf = async (store: SessionStore, agent: string) => {
  const id = (await childrenIn(store)).find((one) => one.startsWith(`c/~/${agent}-`)) ?? ""
  return { id, record: await store.load(id) }
}

type Stored = Awaited<ReturnType<SessionStore["load"]>>

const textsOf = (record: Stored) => (record?.thread.messages ?? []).map(said)

/** The ends of tasks that an agent has read. */
const endsIn = (record: Stored) =>
  (record?.thread.messages ?? [])
    .filter(({ role }) => role === "user")
    .map(said)
    .filter((text) => text.includes("has ended:"))

const approvals = (chat: LocalChatRef) => chat.getSnapshot()?.context.pendingApprovals ?? []

const gone = (chat: LocalChatRef, text: string) => until(() => lastOf(chat).includes(text), text)

test("SUB21 a call is over when the background tasks of its child are, and the child has read their ends", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, store, started } = await family({ crawl: () => gold.promise })
  const chat = await troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  const { id } = await childOf(store, "research")
  const child = livingChatsOf(troupe).get(id)
  await until(() => child?.chat.context?.record.lastHaltedReason === "completed")
  // The child has the handle at once, and rests.
  expect(said(child?.chat.context?.record.thread.messages[2])).toContain('"status":"running"')
  await hop()
  expect(turn.over).toBe(false)
  expect(child?.ref.pid).toBeDefined()
  gold.resolve("now gold")
  const { finalResponse } = await turn.result()
  expect(finalResponse?.outputText).toBe("boss read research read gold")
  const { record } = await childOf(store, "research")
  expect(endsIn(record)).toHaveLength(1)
  expect(record?.tasks).toBeUndefined()
  await until(() => !troupe.isAlive(id))
})

test("SUB21 a child has the tools of background tasks, for its own ones", async () => {
  const gold = Promise.withResolvers<string>()
  const waiting = tool({
    name: "waiting",
    execute: async (_, { chat }) => {
      const list = chat?.tasks?.list() ?? []
      gold.resolve("now gold")
      return list.map(({ tool: name, status }) => `${name} ${status}`).join()
    }
  })
  const more = [waiting, ...taskTools()]
  const { troupe, store } = await family({ crawl: () => gold.promise, more })
  const chat = await troupe.chat("c")
  inputsOf("crawl waiting")
  await chat.send("go research").result()
  inputsOf("crawl")
  const { record } = await childOf(store, "research")
  expect(textsOf(record)).toContain("crawl running")
})

/** Sets the tools that `research` calls. */
const inputsOf = (names: string): void => void Object.assign(inputs, { research: names })

test("SUB21 a cancel of the call cancels the tasks of its child", async () => {
  const ended: Array<string> = []
  const { troupe, store, started } = await family({
    crawl: (context) =>
      aborted(context).catch((error: unknown) => (ended.push("aborted"), Promise.reject(error as Error)))
  })
  const chat = await troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  const { id } = await childOf(store, "research")
  await until(() => livingChatsOf(troupe).get(id)?.chat.context?.record.lastHaltedReason === "completed")
  await chat.cancel()
  expect((await turn.result()).haltedReason).toBe("cancelled")
  expect(ended).toEqual(["aborted"])
  await until(() => !troupe.isAlive(id))
  // The next call of the child reads the end.
  const { record } = await childOf(store, "research")
  const waits = (record?.inbox ?? []).map(({ message }) => said(message))
  expect([...endsIn(record), ...waits]).toEqual([expect.stringContaining("has ended: cancelled.")])
})

test("SUB21 a call that misses its deadline cancels the tasks of its child", async () => {
  const { troupe, clock, started } = await family({ crawl: aborted, timeoutMs: 1_000 })
  const chat = await troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  await hop()
  await clock.advance(1_000)
  await clock.advance(10)
  const { finalResponse } = await turn.result()
  expect(finalResponse?.outputText).toContain("boss read")
  expect(livingChatsOf(troupe).size).toBeGreaterThan(0)
  await until(() => Array.from(livingChatsOf(troupe).keys()).every((id) => id === "c" || !troupe.isAlive(id)))
})

test("SUB21 a child whose process crashes while its tasks work reads their ends", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, store, started } = await family({ crawl: () => gold.promise })
  const chat = await troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  const { id } = await childOf(store, "research")
  const child = livingChatsOf(troupe).get(id)
  await until(() => child?.chat.context?.record.lastHaltedReason === "completed")
  const pid = child?.ref.pid
  if (pid !== undefined) Process.kill(pid)
  await until(() => child?.ref.pid !== undefined && child.ref.pid !== pid)
  gold.resolve("now gold")
  expect((await turn.result()).finalResponse?.outputText).toBe("boss read research read gold")
  expect(started).toHaveLength(1)
})

test.each([
  ["that only reads runs again", "read" as const, "gold"],
  ["that may have taken effect has ended interrupted", undefined, "interrupted"]
])("SUB21 after a restart a task of a child %s", async (_, effect, text) => {
  const store = memory()
  const first = await family({ store, crawl: aborted, ...(effect !== undefined && { effect }) })
  const chat = await first.troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => first.started.length === 1)
  const { id } = await childOf(store, "research")
  await until(() => livingChatsOf(first.troupe).get(id)?.chat.context?.record.lastHaltedReason === "completed")
  await first.troupe.stop()
  await turn.result().catch(() => undefined)
  const second = await family({ store, crawl: () => "now gold", ...(effect !== undefined && { effect }) })
  const again = await second.troupe.chat("c")
  const { finalResponse } = await again.retry().result()
  expect(finalResponse?.outputText).toContain(text)
  expect(second.started).toEqual(effect === undefined ? [] : first.started)
  const { record } = await childOf(store, "research")
  expect(endsIn(record)).toHaveLength(1)
})

test("SUB21 what a task of a child waits for is a wait of the root, and the answer gets to it, also after a restart", async () => {
  const store = memory()
  const first = await family({ store })
  const chat = await first.troupe.chat("c")
  const { haltedReason } = await chat.send("go deep").result()
  expect(haltedReason).toBe("awaiting_approval")
  expect(approvals(chat)).toMatchObject([
    { kind: "question", reason: "Which metal?", agent: "scout", toolCall: { id: "c0/~/c0/~/c0", name: "which" } }
  ])
  expect((await first.troupe.waiting()).waits).toMatchObject([{ toolCallId: "c0/~/c0/~/c0", agent: { name: "scout" } }])
  await first.troupe.stop()
  const second = await family({ store })
  const again = await second.troupe.chat("c")
  const { finalResponse } = await again.approve("c0/~/c0/~/c0", { type: "result", value: "gold" }).result()
  expect(finalResponse?.outputText).toContain("scout read gold")
  expect(approvals(again)).toEqual([])
  const { record } = await childOf(store, "scout")
  expect(textsOf(record)).toEqual([
    "go which",
    "",
    "<awaiting user response>",
    "Which metal?",
    "gold",
    "scout read gold"
  ])
  expect((await childOf(store, "deep")).record?.tasks).toBeUndefined()
})

test("SUB21 BG11 a child that waits for a person ends its call at once, and reads the end of its task after the answer", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, store, started } = await family({ crawl: () => gold.promise })
  const chat = await troupe.chat("c")
  const { haltedReason } = await chat.send("go both").result()
  expect(haltedReason).toBe("awaiting_approval")
  expect(started).toHaveLength(1)
  expect(approvals(chat)).toMatchObject([{ reason: "Which metal?", toolCall: { id: "c0/~/c1" } }])
  gold.resolve("now gold")
  const { id } = await childOf(store, "both")
  await until(() => !troupe.isAlive(id))
  const kept = async () => ((await store.load(id))?.inbox ?? []).map(({ id: input }) => input)
  while ((await kept()).length === 0) await hop()
  expect(await kept()).toEqual([expect.stringMatching(/^task\//u)])
  const { finalResponse } = await chat.approve("c0/~/c1", { type: "result", value: "iron" }).result()
  expect(finalResponse?.outputText).toBe("boss read both read gold")
  const { record } = await childOf(store, "both")
  expect(endsIn(record)).toHaveLength(1)
})

test("BG11 the end of a task of a child that rests is kept over a restart, and the work is not begun again", async () => {
  const gold = Promise.withResolvers<string>()
  const store = memory()
  const first = await family({ store, crawl: () => gold.promise })
  const chat = await first.troupe.chat("c")
  await chat.send("go both").result()
  gold.resolve("now gold")
  const { id } = await childOf(store, "both")
  while (((await store.load(id))?.inbox ?? []).length === 0) await hop()
  await first.troupe.stop()
  const second = await family({ store })
  const again = await second.troupe.chat("c")
  const { finalResponse } = await again.approve("c0/~/c1", { type: "result", value: "iron" }).result()
  expect(finalResponse?.outputText).toBe("boss read both read gold")
  expect(second.started).toEqual([])
})

test("SUB22 with turnEnds now a call is over with the turn of its child, whose tasks go on in a task of the parent", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, store, started } = await family({ crawl: () => gold.promise, turnEnds: "now" })
  const chat = await troupe.chat("c")
  const { finalResponse } = await chat.send("go research").result()
  expect(finalResponse?.outputText).toMatch(/^boss read research read \{"task":/u)
  expect(started).toHaveLength(1)
  expect(await chat.tasks()).toMatchObject([{ tool: "research", status: "running" }])
  const { id } = await childOf(store, "research")
  await until(() => troupe.isAlive(id))
  gold.resolve("now gold")
  await gone(chat, "boss read The background task")
  expect(lastOf(chat)).toContain("(research) has ended: done.\nresearch read gold")
  expect(await chat.tasks()).toEqual([])
  const { record } = await childOf(store, "research")
  expect(endsIn(record)).toHaveLength(1)
})

test("SUB22 the tasks of a child go on after a restart, and its parent reads the last reply", async () => {
  const store = memory()
  const given = { store, turnEnds: "now", effect: "read" } as const
  const first = await family({ ...given, crawl: aborted })
  await (await first.troupe.chat("c")).send("go research").result()
  await until(() => first.started.length === 1)
  await first.troupe.stop()
  const second = await family({ ...given, crawl: () => "now gold" })
  await until(() => second.troupe.isAlive("c"))
  const chat = await second.troupe.chat("c")
  await gone(chat, "boss read The background task")
  expect(lastOf(chat)).toContain("(research) has ended: done.\nresearch read gold")
  expect(second.started).toEqual(first.started)
})

test("SUB22 with turnEnds now a call does not wait for a sub-agent of its child that asks a person", async () => {
  const { troupe } = await family({ turnEnds: "now" })
  const chat = await troupe.chat("c")
  const { haltedReason, finalResponse } = await chat.send("go deep").result()
  expect(haltedReason).toBe("completed")
  expect(finalResponse?.outputText).toMatch(/^boss read deep read \{"task":/u)
  await until(() => approvals(chat).length === 1, "the wait")
  const [wait] = approvals(chat)
  expect(wait).toMatchObject({ reason: "Which metal?", agent: "scout" })
  expect(await chat.tasks()).toMatchObject([{ tool: "deep", status: "waiting" }])
  await chat.approve(wait?.toolCall.id ?? "", { type: "result", value: "gold" }).result()
  await gone(chat, "boss read The background task")
  expect(lastOf(chat)).toContain("scout read gold")
})

test("SUB22 a call in the background is over with the turn of its child too", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe } = await family({ crawl: () => gold.promise, turnEnds: "now", background: true })
  const chat = await troupe.chat("c")
  await chat.send("go research").result()
  await gone(chat, "boss read The background task")
  expect(lastOf(chat)).toContain('has ended: done.\nresearch read {"task":')
  expect(await chat.tasks()).toMatchObject([{ tool: "research", status: "running" }])
  gold.resolve("now gold")
  await gone(chat, "research read gold")
})

test("SUB22 without a place for a task in its parent a call is over with the tasks of its child", async () => {
  const gold = Promise.withResolvers<string>()
  const own = tool({ name: "own", background: true, execute: (_, context) => aborted(context) })
  const { troupe, started } = await family({
    crawl: () => gold.promise,
    turnEnds: "now",
    maxTasks: 1,
    tools: [own, subagent("research")]
  })
  const chat = await troupe.chat("c")
  await chat.send("go own").result()
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  await hop()
  expect(turn.over).toBe(false)
  gold.resolve("now gold")
  expect((await turn.result()).finalResponse?.outputText).toBe("boss read research read gold")
})

test("SUB21 a call is over when a limit keeps its child from reading the end of its task", async () => {
  const gold = Promise.withResolvers<string>()
  const { troupe, store, started } = await family({ crawl: () => gold.promise, maxChainRequests: 1 })
  const chat = await troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => started.length === 1)
  gold.resolve("now gold")
  await turn.result()
  const { record } = await childOf(store, "research")
  const waits = (record?.inbox ?? []).map(({ message }) => said(message))
  expect([...endsIn(record), ...waits]).toEqual([expect.stringContaining("has ended: done.")])
})

test("BG8 a root that leaves takes the tasks of its children along, and its next home continues them", async () => {
  const store = memory()
  const first = await family({ store, crawl: aborted, effect: "read" })
  const chat = await first.troupe.chat("c")
  const turn = chat.send("go research")
  await until(() => first.started.length === 1)
  const { id } = await childOf(store, "research")
  await until(() => livingChatsOf(first.troupe).get(id)?.chat.context?.record.lastHaltedReason === "completed")
  await chat.leave()
  await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
  const second = await family({ store, crawl: () => "now gold", effect: "read" })
  const again = await second.troupe.chat("c")
  expect((await again.retry().result()).finalResponse?.outputText).toContain("gold")
  expect(second.started).toEqual(first.started)
  const { record } = await childOf(store, "research")
  expect(endsIn(record)).toHaveLength(1)
})

test("SUB9 SUB21 an agent in the background of a child that waits for a person is within the mode of the child", async () => {
  const written: Array<number> = []
  const gold = Promise.withResolvers<string>()
  const look = tool({ name: "look", effect: "read", execute: () => gold.promise })
  const write = tool({ name: "write", execute: () => written.push(1) })
  const which = tool({ name: "which", execute: () => askUser("Which metal?") })
  const script = (replies: ReadonlyArray<Script>) => check.fake({ scripts: replies })
  const { troupe } = await check.troupe({
    adapter: script([calls(["deep", { input: "go" }]), says("done")]),
    tools: [subagent("deep")],
    permissions: { mode: "acceptEdits" },
    agents: {
      deep: {
        adapter: script([calls(["scout", { input: "go" }], "which"), says("asked"), says("all read")]),
        tools: [subagent("scout", { background: true }), which]
      },
      scout: { adapter: script([calls("look"), calls("write"), says("scouted")]), tools: [look, write] }
    },
    store: memory(),
    drainMs: 10
  })
  const chat = await troupe.chat("c")
  expect((await chat.send("go").result()).haltedReason).toBe("awaiting_approval")
  gold.resolve("gold")
  await until(() => written.length === 1)
  const [wait] = approvals(chat)
  const { finalResponse } = await chat.approve(wait?.toolCall.id ?? "", { type: "result", value: "iron" }).result()
  expect(finalResponse?.outputText).toBe("done")
})

test("SUB2 a call that runs again continues its child, also when as many others run as may begin", async () => {
  const store = memory()
  const program = async (work: (context: ToolContext) => unknown) => {
    const begun: Array<string> = []
    const look = tool({ name: "look", effect: "read", execute: (_, context) => (begun.push("look"), work(context)) })
    const which = tool({ name: "which", execute: () => askUser("Which metal?") })
    const asks = ({ messages }: Request): Script => {
      const last = said(messages.at(-1))
      return last === "go which" ? calls("which") : last === "iron" ? calls("look") : says(`scout read ${last}`)
    }
    const { troupe } = await check.troupe({
      adapter: check.fake({ respond: works("boss") }),
      tools: [subagent("scout", { background: true }), subagent("research", { maxChildren: 1 })],
      agents: {
        scout: { adapter: check.fake({ respond: asks }), tools: [which, look] },
        research: {
          adapter: check.fake({
            respond: ({ messages }) => (messages.length === 1 ? calls("look") : says(`found ${said(messages.at(-1))}`))
          }),
          tools: [look]
        }
      },
      store,
      drainMs: 10
    })
    return { troupe, begun, chat: await troupe.chat("c") }
  }
  const first = await program(aborted)
  await first.chat.send("go scout").result()
  await until(() => approvals(first.chat).length === 1)
  const turn = first.chat.send("go research")
  await until(() => first.begun.length === 1)
  await first.troupe.stop()
  await turn.result().catch(() => undefined)
  const gold = Promise.withResolvers<string>()
  const second = await program(() => gold.promise)
  const [wait] = approvals(second.chat)
  await second.chat.approve(wait?.toolCall.id ?? "", { type: "result", value: "iron" }).result()
  await until(() => second.begun.length === 1)
  const again = second.chat.retry()
  await until(() => second.begun.length === 2)
  gold.resolve("gold")
  const { thread } = await again.result()
  expect(thread.messages.filter(({ role }) => role === "tool").map(said)).toContainEqual(
    expect.stringContaining("found gold")
  )
})

test("BG8 a deletion of the root cancels the tasks of its children", async () => {
  const ended: Array<string> = []
  const { troupe, store, started } = await family({
    crawl: (context) =>
      aborted(context).catch((error: unknown) => (ended.push("aborted"), Promise.reject(error as Error)))
  })
  const chat = await troupe.chat("c")
  await chat.send("go both").result()
  expect(started).toHaveLength(1)
  await troupe.delete("c")
  expect(ended).toEqual(["aborted"])
  expect(await childrenIn(store)).toEqual([])
})
