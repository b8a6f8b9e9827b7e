import { expect, test } from "vitest"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { turnsOfLoop } from "../double/pausing.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn, delegates, withoutId } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { TreeLimits } from "../../src/family/treeLimits.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { text } from "../../src/model/Message.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { Tracing } from "../../src/observe/Tracing.ts"
import { over } from "../../src/record/Chain.ts"
import { blank } from "../../src/store/commitLog.ts"
import { tool } from "../../src/tool/functionTool.ts"

const check = leakCheck()

/** A reply that costs tokens. */
const spending = (script: Script, totalTokens: number): Script => [{ usage: { totalTokens } }, ...script]

const childOf = (troupe: RunningTroupe) => {
  const [id = ""] = Array.from(livingChatsOf(troupe).keys()).filter((found) => found.includes("/~/"))
  return livingChatsOf(troupe).get(id)?.chat
}

/** A child that calls write until it is answered. */
const writing = (request: Request): Script =>
  request.messages.at(-1)?.role === "user" ? calls("write") : says(request.messages.slice(-1).map(text).join(""))

test("SUB9 the mode of a child is not looser than that of its parent, whatever its agent has", async () => {
  const written: Array<unknown> = []
  const write = tool({ name: "write", execute: () => written.push(1) })
  const research = {
    adapter: check.fake({ respond: writing }),
    tools: [write],
    permissions: { mode: "bypass" as const }
  }
  const { troupe } = await delegates(check, writing, { agents: { research }, permissions: { mode: "plan" } })
  const result = await (await troupe.chat("c")).send("please !dig").result()
  expect(result.finalResponse?.outputText).toContain("may not run while planning")
  expect(written).toEqual([])
})

test("SUB9 a child and its calls set no looser mode, and a person cannot agree to one", async () => {
  const asked: Array<unknown> = []
  const loosen = tool({
    name: "write",
    effect: "read",
    execute: async (_, { setPermissionMode }) => setPermissionMode("trusted").then(() => "loose")
  })
  const ask = ({ wants }: { readonly wants?: unknown }) => {
    asked.push(wants)
    return "allow" as const
  }
  const research = {
    adapter: check.fake({ respond: writing }),
    tools: [loosen],
    permissions: { mode: "bypass" as const, ask }
  }
  const { troupe } = await delegates(check, writing, { agents: { research }, permissions: { mode: "acceptEdits" } })
  const result = await (await troupe.chat("c")).send("please !dig").result()
  expect(result.finalResponse?.outputText).toMatch(/^boss: (?!loose)/)
  expect(asked).toEqual([])
})

test("SUB9 a mode that the host sets for the parent applies to its running child", async () => {
  const { troupe } = await delegates(check, () => [{ text: "hm" }, { hang: true }])
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig")
  await until(() => childOf(troupe)?.state.text === "hm")
  expect(childOf(troupe)?.process?.env.standing).toBe(undefined)
  await chat.setPermissionMode("plan")
  expect(childOf(troupe)?.process?.env.standing?.mode).toBe("plan")
  await chat.cancel()
  await turn.result()
})

test("SUB9 a parent without permissions lets its child keep its own mode, until somebody sets a mode for the parent", async () => {
  const asked: Array<string> = []
  const written: Array<unknown> = []
  const write = tool({ name: "write", execute: () => written.push(1) })
  const ask = ({ toolCall }: { readonly toolCall: { readonly name: string } }) => {
    asked.push(toolCall.name)
    return "deny" as const
  }
  const research = {
    adapter: check.fake({ respond: writing }),
    tools: [write],
    permissions: { mode: "trusted" as const, ask }
  }
  const { troupe } = await delegates(check, writing, { agents: { research } })
  const chat = await troupe.chat("c")
  await chat.send("please !dig").result()
  expect([asked, written]).toEqual([[], [1]])
  await chat.setPermissionMode("default")
  await chat.send("please !dive").result()
  expect([asked, written]).toEqual([["write"], [1]])
  const bounded = await delegates(check, writing, { agents: { research }, permissions: {} })
  await (await bounded.troupe.chat("c")).send("please !dig").result()
  expect([asked, written]).toEqual([["write", "write"], [1]])
})

test("SUB7 the usage of children is in that of the parent, in its step and in its record", async () => {
  const { troupe, store } = await delegates(check, () => spending(says("found"), 100))
  const chat = await troupe.chat("c")
  const result = await chat.send("please !dig and !dive").result()
  expect(result.steps[0]?.childUsage).toMatchObject({ totalTokens: 200 })
  expect(result.usage).toMatchObject({ totalTokens: 200 })
  expect((await store.load("c"))?.usage).toMatchObject({ totalTokens: 200 })
})

test("SUB7 the usage of children counts for the budget of the parent", async () => {
  const { adapters, troupe } = await delegates(check, () => spending(says("found"), 100), { budget: { tokens: 100 } })
  const result = await (await troupe.chat("c")).send("please !dig").result()
  expect(result).toMatchObject({ haltedReason: "budget_tokens", metadata: { budget: 100, spent: 100 } })
  expect(adapters.boss.requests).toHaveLength(1)
})

test("SUB8 parallel children overspend the budget of the parent by at most one request each", async () => {
  const look = tool({ name: "look", effect: "read", execute: () => "seen" })
  const looking = () => spending(calls("look"), 60)
  const adapter = check.fake({ respond: looking })
  const { troupe } = await delegates(check, looking, {
    agents: { research: { adapter, tools: [look], maxTurns: 50 } },
    budget: { tokens: 200 },
    maxUnproductive: 0
  })
  const result = await (await troupe.chat("c")).send("please !dig and !dive and !delve").result()
  expect(result.haltedReason).toBe("budget_tokens")
  const spent = adapter.requests.length * 60
  expect(spent).toBeGreaterThanOrEqual(200)
  expect(spent).toBeLessThanOrEqual(200 + 3 * 60)
  expect(result.steps[0]?.childUsage?.totalTokens).toBe(spent)
})

/** The root and its children call further children without end. */
const breeding = (options: Partial<TroupeOptions>) => {
  const respond = () => calls(["research", { input: "a" }], ["research", { input: "b" }])
  const research = { adapter: check.fake({ respond }), tools: [subagent("research", { maxDepth: 50 })], maxTurns: 50 }
  return { research, root: check.fake({ respond }), options: { maxTurns: 50, maxUnproductive: 0, ...options } }
}

test("SUB14 a tree of sub-agents sends at most maxTreeRequests requests, and one more for each that runs", async () => {
  const { research, root, options } = breeding({ maxTreeRequests: 40, maxTreeChildren: Infinity })
  const { troupe } = await check.troupe({
    adapter: root,
    tools: [subagent("research", { maxDepth: 4 })],
    agents: { research: { ...research, tools: [subagent("research", { maxDepth: 4 })] } },
    ...options
  })
  const chat = await troupe.chat("c")
  const result = await chat.send("go").result()
  expect(result).toMatchObject({ haltedReason: "max_tree_requests", metadata: { maxTreeRequests: 40 } })
  // 31 chats of four levels run at once.
  const sent = () => research.adapter.requests.length + root.requests.length
  expect(sent()).toBeLessThanOrEqual(40 + 31)
  const before = sent()
  expect((await chat.send("again").result()).haltedReason).toBe("max_tree_requests")
  expect(sent() - before).toBeGreaterThan(20)
})

test("SUB14 a request counts when it begins: a child that its parent waits for sees it", async () => {
  const respond = () => calls(["research", { input: "a" }])
  const research = { adapter: check.fake({ respond }), tools: [subagent("research", { maxDepth: 8 })], maxTurns: 50 }
  const root = check.fake({ respond })
  const { troupe } = await check.troupe({
    adapter: root,
    tools: [subagent("research", { maxDepth: 8 })],
    agents: { research },
    maxTreeRequests: 3
  })
  const chat = await troupe.chat("c")
  expect((await chat.send("go").result()).haltedReason).toBe("max_tree_requests")
  expect([root.requests.length, research.adapter.requests.length]).toEqual([1, 2])
})

test("SUB14 an input begins the counts anew, also when its chain is ended before its first request", () => {
  const bounds = { maxTreeChildren: 1, maxTreeRequests: 1, maxKnownAgents: 1, maxAgentMessages: 1 }
  let turn = "first"
  const living = () => ({
    context: { turn: { id: turn, messages: [] }, record: { ...blank("c"), chain: over() } }
  })
  const tree = new TreeLimits(bounds, living, () => 0)

  tree.chainBegan("c", turn)
  tree.sends("c")
  expect([tree.begins("c/~/a"), tree.begins("c/~/b")]).toEqual([true, false])
  turn = "second"
  expect(tree.spent("c")?.reason).toBe("max_tree_requests")
  tree.chainBegan("c", turn)
  expect([tree.begins("c/~/b"), tree.spent("c/~/b")]).toEqual([true, undefined])
  tree.chainBegan("c/~/b", turn)
  expect(tree.begins("c/~/a")).toBe(false)
})

test("SUB14 a turn that the end of a task begins sends no request when its tree has sent maxTreeRequests", async () => {
  const crawl = tool({ name: "crawl", background: true, effect: "read", execute: () => Promise.resolve("crawled") })
  const isNew = ({ messages }: Request): boolean => messages.at(-1)?.role === "user" && messages.length === 1
  const adapter = check.fake({ respond: (request) => (isNew(request) ? calls("crawl", "crawl", "crawl") : says("ok")) })
  const { troupe } = await check.troupe({
    adapter,
    tools: [crawl],
    agents: { research: {} },
    maxTreeRequests: 1,
    maxTurns: 1
  })
  const chat = await troupe.chat("c")
  expect((await chat.send("go").result()).haltedReason).toBe("max_turns")
  await until(() => chat.getSnapshot()?.context.lastHaltedReason === "max_tree_requests")
  expect(adapter.requests).toHaveLength(1)
})

test("SUB14 the counts of a root that is unloaded while it has a task stay", async () => {
  const work = Promise.withResolvers<string>()
  const crawl = tool({ name: "crawl", background: true, effect: "read", execute: () => work.promise })
  const adapter = check.fake({ scripts: [calls("crawl"), says("later"), says("more")] })
  const { troupe, clock } = await check.troupe({
    adapter,
    tools: [crawl],
    agents: { research: {} },
    maxTreeRequests: 2,
    passivateAfterMs: 1_000
  })
  await (await troupe.chat("c")).send("go").result()
  for (let turn = 0; turn < 8 && troupe.isAlive("c"); turn++) await clock.advance(500)
  expect(troupe.isAlive("c")).toBe(false)
  work.resolve("crawled")
  await until(() => troupe.isAlive("c"))
  const chat = await troupe.chat("c")
  await until(() => chat.getSnapshot()?.context.lastHaltedReason === "max_tree_requests")
  expect(adapter.requests).toHaveLength(2)
})

test("SUB13 one input of a root begins at most maxTreeChildren sub-agents, at all depths together", async () => {
  const { research, root, options } = breeding({ maxTreeChildren: 10, maxTreeRequests: 400 })
  const { troupe, store } = await delegates(check, () => says("x"), {
    adapter: root,
    agents: { research },
    ...options,
    maxMistakes: 3
  })
  const result = await (await troupe.chat("c")).send("go").result()
  expect(await childrenIn(store)).toHaveLength(10)
  expect(result.thread.messages.map(said).join("")).toContain("10 agents have begun for the last message")
})

test("SUB7 a child counts once while its process ends", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const answered = Promise.withResolvers<void>()
    const look = tool({
      name: "look",
      effect: "read",
      execute: () => answered.promise.then(() => turnsOfLoop(turns)).then(() => "seen")
    })
    const { adapters, troupe } = await delegates(check, () => says(""), {
      agents: {
        research: {
          tools: [look],
          adapter: check.fake({
            respond: ({ messages }) => {
              const isFirst = said(messages.at(-1)) === "dig"
              if (isFirst) answered.resolve()
              return spending(isFirst || messages.length > 1 ? says("found") : calls("look"), 100)
            }
          })
        }
      },
      budget: { tokens: 300 }
    })
    const chat = await troupe.chat("c")
    const { thread } = await chat.send("please !dig and !dive").result()
    expect([turns, ...thread.messages.slice(2).map(withoutId)]).toEqual([turns, "found", "found"])
    expect(adapters.boss.requests).toHaveLength(1)
  }
})

test("SUB8 children in the background use up the budget of their root", async () => {
  const look = tool({ name: "look", effect: "read", execute: () => "seen" })
  const looking = () => spending(calls("look"), 60)
  const adapter = check.fake({ respond: looking })
  const { troupe } = await delegates(check, looking, {
    agents: { research: { adapter, tools: [look], maxTurns: 50 } },
    tool: { background: true },
    budget: { tokens: 200 },
    maxUnproductive: 0
  })
  const chat = await troupe.chat("c")
  await chat.send("please !dig and !dive and !delve").result()
  await Promise.all((await chat.tasks()).map(({ id }) => chat.awaitTask(id)))
  await until(() => chat.getSnapshot()?.context.phase === "idle")
  expect(adapter.requests.length * 60).toBeLessThanOrEqual(200 + 3 * 60)
})

/**
 * A root whose requests cost 10 tokens, and that gives `dig` a task in the background when a message says so. Each request of `dig` costs 100
 * tokens and calls `look`, until `digs` has it answer.
 */
const digging = async (options: Partial<TroupeOptions> = {}) => {
  const looks: Array<() => void> = []
  let isOver = false
  const look = tool({
    name: "look",
    effect: "read",
    execute: (_, { signal }) =>
      new Promise<void>((resolve) => {
        looks.push(resolve)
        signal.addEventListener("abort", () => resolve())
      })
  })
  const isTask = ({ messages }: Request): boolean => said(messages.at(-1)) === "dig"
  const adapter = check.fake({
    respond: (request) => spending(isTask(request) ? calls(["dig", { input: "x" }]) : says("ok"), 10)
  })
  const below = check.fake({ respond: () => spending(isOver ? says("found") : calls("look"), 100) })
  const { troupe } = await check.troupe({
    adapter,
    tools: [subagent("research", { name: "dig", background: true })],
    agents: { research: { adapter: below, tools: [look], maxTurns: 50 } },
    maxUnproductive: 0,
    ...options
  })
  const chat = await troupe.chat("c")
  /** Waits until this many requests of `dig` called `look`. */
  const digs = async (requests: number): Promise<void> => {
    while (looks.length < requests) {
      const { length } = looks
      looks[length - 1]?.()
      await until(() => looks.length > length)
    }
  }
  /** Has `dig` answer with its next request. */
  const found = async (): Promise<void> => {
    isOver = true
    looks.at(-1)?.()
    await until(() => chat.thread.messages.some((message) => said(message).includes("has ended")) && isAtRest())
  }
  const isAtRest = () => chat.getSnapshot()?.context.phase === "idle"
  const spent = () => {
    const { usage, chain } = chat.getSnapshot()?.context ?? {}
    return { all: usage?.totalTokens, chain: chain?.usage.totalTokens }
  }
  return { chat, adapter, below, digs, found, spent, looks, isAtRest }
}

test("SUB7 the next input does not pay for a sub-agent in the background that ended before it", async () => {
  const { chat, digs, spent } = await digging()
  await chat.send("dig").result()
  await digs(3)
  await chat.cancel({ tasks: true })
  expect((await chat.send("hi").result()).usage?.totalTokens).toBe(10)
  expect(spent()).toEqual({ all: 20 + 300 + 10, chain: undefined })
})

test("SUB7 a sub-agent in the background that outlives an input counts for the next one from then on, and once in all", async () => {
  const { chat, digs, found, spent } = await digging()
  await chat.send("dig").result()
  await digs(3)
  expect((await chat.send("hi").result()).usage?.totalTokens).toBe(10)
  await found()
  expect(spent()).toEqual({ all: 20 + 10 + 400 + 10, chain: 10 + 100 + 10 })
})

test("SUB8 a chat counts what its sub-agents in the background have spent before each request of its own", async () => {
  const wait = Promise.withResolvers<void>()
  const hold = tool({ name: "hold", effect: "read", execute: () => wait.promise })
  const adapter = check.fake({
    respond: ({ messages }) => spending(messages.length === 1 ? calls(["dig", { input: "x" }]) : calls("hold"), 10)
  })
  const { chat, digs } = await digging({
    adapter,
    tools: [subagent("research", { name: "dig", background: true }), hold],
    budget: { tokens: 450 },
    maxTurns: 50
  })
  const turn = chat.send("go")
  await digs(4)
  wait.resolve()
  expect(await turn.result()).toMatchObject({ haltedReason: "budget_tokens", metadata: { spent: 450 } })
  expect(adapter.requests).toHaveLength(5)
})

test("SUB8 the end of a sub-agent that used up the budget of its chain sends no request", async () => {
  const { chat, adapter, below, digs, looks, isAtRest } = await digging({ budget: { tokens: 450 } })
  await chat.send("dig").result()
  await digs(5)
  looks.at(-1)?.()
  await until(() => chat.getSnapshot()?.context.lastHaltedReason === "budget_tokens" && isAtRest())
  expect([adapter.requests.length, below.requests.length]).toEqual([2, 5])
})

test("SLOT5 children and their calls run when all slots are taken by the calls that wait for them", async () => {
  const write = tool({ name: "write", execute: () => "written" })
  const research = { adapter: check.fake({ respond: writing }), tools: [write] }
  const { troupe } = await delegates(check, writing, { agents: { research }, maxToolCalls: 1 })
  const chat = await troupe.chat("c")
  expect((await chat.send("please !dig").result()).finalResponse?.outputText).toBe("boss: written")
  expect((await chat.send("please !dig").result()).finalResponse?.outputText).toContain("written")
})

test("the spans of a child are below the span of its call", async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracing = Tracing.openTelemetry(provider)
  const { troupe } = await delegates(check, () => says("found"), { tracing })
  await (await troupe.chat("c")).send("please !dig").result()
  const spans = exporter.getFinishedSpans()
  const call = spans.find(({ name }) => name === "execute_tool research")
  const child = spans.find(({ name }) => name === "invoke_agent research")
  expect(call).toBeDefined()
  expect(child?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId)
  expect(child?.spanContext().traceId).toBe(call?.spanContext().traceId)
})
