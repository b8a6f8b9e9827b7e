import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** A background call whose work ends at once. */
const crawl = tool({ name: "crawl", background: true, execute: () => Promise.resolve("crawled") })
const pay = tool({ name: "pay", execute: () => "paid" })
const ask = tool({ name: "ask", execute: () => askUser("Which?") })

const spending = (script: Script): Script => [{ usage: { totalTokens: 100 } }, ...script]

const lastOf = ({ messages }: Request) => messages.at(-1)

/** A Troupe whose model answers every request as `respond` does. */
const starts = async (respond: (request: Request) => Script, options: Partial<TroupeOptions> = {}) => {
  const adapter = check.fake({ respond: (request) => spending(respond(request)) })
  const { troupe, clock } = await check.troupe({
    adapter,
    tools: [crawl, pay, ask],
    store: memory(),
    drainMs: 10,
    maxUnproductive: 0,
    ...options
  })
  return { adapter, troupe, clock }
}

const suspends = { permissions: { ask: () => "suspend" as const } }

/** Resolves when nothing has changed for a while. */
const still = async (count: () => number) => {
  for (let seen = -1; seen !== count();) {
    seen = count()
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => void setImmediate(resolve))
  }
}

const approves = async (chat: LocalChatRef, options: { readonly renew?: boolean } = {}) =>
  (await chat.approve("c0", { type: "allow" }, options).result()).haltedReason

test("CHAIN3 ends of tasks that call further tasks send at most maxChainRequests requests after one message", async () => {
  const { adapter, troupe } = await starts(() => calls("crawl"), { maxTurns: 3 })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(3 + 50)
  expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("max_chain_requests")
})

test("CHAIN3 an end that comes after the limit waits in the inbox, and joins the turn of the next input", async () => {
  const isOpen = { value: true }
  const work = Promise.withResolvers<string>()
  const late = tool({ name: "late", background: true, execute: () => work.promise })
  const { adapter, troupe } = await starts(
    (request) => (said(lastOf(request)) === "go" ? calls("crawl", "late") : isOpen.value ? calls("crawl") : says("ok")),
    { maxTurns: 1, maxChainRequests: 2, tools: [crawl, late] }
  )
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(3)
  work.resolve("late result")
  await until(() => chat.getSnapshot()?.context.inbox.length === 2)
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(3)
  expect((await chat.tasks()).map(({ status }) => status)).toEqual(["done", "done"])
  isOpen.value = false
  await chat.send("and now?").result()
  const texts = chat.thread.messages.map(said)
  expect(
    texts.slice(texts.indexOf("and now?")).filter((text) => text.includes("result") || text.includes("crawled"))
  ).toHaveLength(2)
  expect(texts.at(-1)).toBe("ok")
  expect(await chat.tasks()).toEqual([])
})

test("CHAIN1 the budget of tokens holds for the ends of tasks, and the next message has all of it", async () => {
  const { adapter, troupe } = await starts(() => calls("crawl"), { maxTurns: 2, budget: { tokens: 500 } })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(5)
  expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("budget_tokens")
  await chat.send("again").result()
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(10)
})

test("CHAIN2 maxTurns holds over the approvals of a turn", async () => {
  const { adapter, troupe } = await starts(() => calls("pay"), { maxTurns: 2, ...suspends })
  const chat = await troupe.chat("c")
  await chat.send("pay").result()
  expect(await approves(chat)).toBe("awaiting_approval")
  expect(await approves(chat)).toBe("max_turns")
  expect(adapter.requests).toHaveLength(2)
})

test("CHAIN2 the tokens of a budget hold over the approvals of a turn", async () => {
  const { adapter, troupe } = await starts(() => calls("pay"), { budget: { tokens: 150 }, ...suspends })
  const chat = await troupe.chat("c")
  await chat.send("pay").result()
  expect(await approves(chat)).toBe("awaiting_approval")
  const last = await chat.approve("c0", { type: "allow" }).result()
  expect(last).toMatchObject({ haltedReason: "budget_tokens", metadata: { budget: 150, spent: 200 } })
  expect(adapter.requests).toHaveLength(2)
})

test("CHAIN2 a decision with renew begins the limits anew", async () => {
  const { adapter, troupe } = await starts(() => calls("pay"), { maxTurns: 2, ...suspends })
  const chat = await troupe.chat("c")
  await chat.send("pay").result()
  expect(await approves(chat)).toBe("awaiting_approval")
  expect(await approves(chat, { renew: true })).toBe("awaiting_approval")
  expect(await approves(chat)).toBe("awaiting_approval")
  expect(await approves(chat)).toBe("max_turns")
  expect(adapter.requests).toHaveLength(4)
})

test("CHAIN2 answers and results continue the limits of their turn", async () => {
  const { adapter, troupe } = await starts(() => calls("ask"), { maxTurns: 2 })
  const chat = await troupe.chat("c")
  await chat.send("begin").result()
  expect((await chat.send("this").result()).haltedReason).toBe("ask_user")
  expect((await chat.send("that").result()).haltedReason).toBe("max_turns")
  expect(adapter.requests).toHaveLength(2)
  expect((await chat.send("more").result()).haltedReason).toBe("ask_user")

  const manual = tool({ name: "pay", manual: true })
  const other = await starts(() => calls("pay"), { maxTurns: 2, tools: [manual] })
  const answered = await other.troupe.chat("c")
  await answered.send("begin").result()
  expect((await answered.submitToolResults({ c0: 1 }).result()).haltedReason).toBe("manual_tool_calls")
  expect((await answered.submitToolResults({ c0: 2 }).result()).haltedReason).toBe("max_turns")
  expect(other.adapter.requests).toHaveLength(2)
})

/** Resolves when the chat has begun a call of `pay`; `end` ends it. */
const paying = () => {
  const running: Array<(value: string) => void> = []
  const slow = tool({ name: "pay", execute: () => new Promise<string>((resolve) => void running.push(resolve)) })
  return { slow, running }
}

test("CHAIN2 the time of a turn continues after an approval, without the time that the person took", async () => {
  const { slow, running } = paying()
  const { clock, troupe } = await starts(() => calls("pay"), { budget: { timeMs: 300 }, tools: [slow], ...suspends })
  const chat = await troupe.chat("c")
  await chat.send("pay").result()
  await clock.advance(10_000)
  const first = chat.approve("c0", { type: "allow" })
  await until(() => running.length === 1)
  await clock.advance(200)
  running[0]?.("paid")
  expect((await first.result()).haltedReason).toBe("awaiting_approval")
  await clock.advance(10_000)
  const second = chat.approve("c0", { type: "allow" })
  await until(() => running.length === 2)
  await clock.advance(90)
  expect(second.over).toBe(false)
  await clock.advance(20)
  running[1]?.("paid")
  expect((await second.result()).haltedReason).toBe("budget_time")
})

test("CHAIN1 two agents that hand over to each other reach the time of their turn", async () => {
  const held: Array<() => void> = []
  const wait = tool({
    name: "wait",
    effect: "read",
    execute: () => new Promise<void>((resolve) => void held.push(resolve))
  })
  const handing = (to: string) => check.fake({ respond: () => calls("wait", `handoff_to_${to}`) })
  const { troupe, clock } = await check.troupe({
    agents: {
      a: { adapter: handing("b"), tools: [wait], handoffs: ["b"] },
      b: { adapter: handing("a"), tools: [wait], handoffs: ["a"] }
    },
    agent: "a",
    budget: { timeMs: 300 },
    maxTurns: 1_000,
    maxUnproductive: 0,
    drainMs: 10
  })
  const turn = (await troupe.chat("c")).send("go")
  for (let step = 1; step <= 4 && !turn.over; step++) {
    await until(() => turn.over || held.length === step)
    await clock.advance(90)
    held[step - 1]?.()
  }
  expect(held.length).toBeLessThanOrEqual(4)
  expect((await turn.result()).haltedReason).toBe("budget_time")
})

test("CHAIN4 the counts are in the record, so that the next program carries them on", async () => {
  const store = memory()
  const options = { maxTurns: 2, store, ...suspends }
  const first = await starts(() => calls("pay"), options)
  const chat = await first.troupe.chat("c")
  await chat.send("pay").result()
  expect(await approves(chat)).toBe("awaiting_approval")
  await first.troupe.stop()
  expect((await store.load("c"))?.chain).toMatchObject({ requests: 2, usage: { totalTokens: 200 } })
  const second = await starts(() => calls("pay"), options)
  expect(await approves(await second.troupe.chat("c"))).toBe("max_turns")
  expect(second.adapter.requests).toHaveLength(0)
})

test("CHAIN1 a message that a handler sends begins no chain, and does not reset the loop guards", async () => {
  const note = tool({ name: "note", execute: async (_, { chat }) => (await chat?.send("go on"))?.status })
  const { adapter, troupe } = await starts(() => calls("note"), { tools: [note], maxTurns: 20, maxUnproductive: 3 })
  const result = await (await troupe.chat("c")).send("go").result()
  expect(result.haltedReason).toBe("no_progress")
  expect(adapter.requests.length).toBeLessThan(6)
})

test("CHAIN5 a cancel with tasks ends the tasks, and their ends begin no turn until the next input", async () => {
  const never = tool({ name: "crawl", background: true, execute: (_, { signal }) => aborted(signal) })
  const isNew = ({ messages }: Request) => messages.at(-1)?.role === "user"
  const { adapter, troupe } = await starts((request) => (isNew(request) ? calls("crawl") : says("ok")), {
    tools: [never]
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  const [task] = await chat.tasks()
  const before = adapter.requests.length
  await chat.cancel({ tasks: true })
  expect(await chat.awaitTask(task?.id ?? "")).toMatchObject({ status: "cancelled" })
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(before)
  expect((await chat.tasks()).map(({ status }) => status)).toEqual(["cancelled"])
  await chat.cancel({ tasks: true })
})

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

test("CHAIN5 a cancel with tasks ends a chain whose tasks begin each other, also while a turn runs", async () => {
  const { adapter, troupe } = await starts(() => calls("crawl"), { maxTurns: 3, maxChainRequests: Infinity })
  const chat = await troupe.chat("c")
  await chat.send("go").receipt
  await until(() => adapter.requests.length > 10)
  await chat.cancel({ tasks: true })
  await still(() => adapter.requests.length)
  const { length } = adapter.requests
  expect(chat.getSnapshot()?.context.phase).toBe("idle")
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(length)
})

test("CHAIN3 an end that joins a turn of the runtime with its final answer does not pass maxChainRequests", async () => {
  const ends: Array<() => void> = []
  const late = tool({
    name: "late",
    background: true,
    execute: () => new Promise<void>((resolve) => ends.push(resolve))
  })
  const { adapter, troupe } = await starts(
    (request) => {
      if (said(lastOf(request)) === "go") return calls("late", "late")
      // The second task ends while the model answers the end of the first one.
      if (said(lastOf(request)).includes("has ended")) ends.pop()?.()
      return says("ok")
    },
    { maxTurns: 5, maxChainRequests: 1, tools: [late] }
  )
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => ends.length === 2)
  ends.shift()?.()
  await until(() => adapter.requests.length > 2)
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(3)
  expect(chat.getSnapshot()?.context.inbox).toHaveLength(1)
})

test("CHAIN5 a cancel with tasks of a turn that has not begun lets no end that waits begin a turn", async () => {
  const { adapter, troupe } = await starts(() => calls("crawl", "crawl", "crawl"), { maxTurns: 1, maxChainRequests: 1 })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => (chat.getSnapshot()?.context.inbox.length ?? 0) > 0)
  await still(() => adapter.requests.length)
  const before = adapter.requests.length
  const turn = chat.send("again")
  await chat.cancel({ tasks: true })
  expect((await turn.result()).haltedReason).toBe("cancelled")
  await still(() => adapter.requests.length)
  expect(adapter.requests).toHaveLength(before)
})

test("CHAIN5, REF9 a cancel with tasks of a turn that waits leaves the chain of the running turn", async () => {
  const opened = Promise.withResolvers<void>()
  const work = Promise.withResolvers<string>()
  const wait = tool({ name: "wait", execute: () => opened.promise })
  const late = tool({ name: "late", background: true, execute: () => work.promise })
  let requests = 0
  const { troupe } = await starts(
    () => {
      requests += 1
      return requests === 1 ? calls("wait") : requests === 2 ? calls("late") : says("ok")
    },
    { tools: [wait, late] }
  )
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  const waiting = chat.send("later")
  await waiting.receipt
  await chat.cancel({ turn: waiting, tasks: true })
  await expect(waiting.result()).rejects.toMatchObject({ reason: "withdrawn" })
  opened.resolve()
  expect((await running.result()).haltedReason).toBe("completed")
  work.resolve("late result")
  await until(() => requests === 4)
})

test("CHAIN5 a cancel refuses unknown options", async () => {
  const { troupe } = await starts(() => says("x"))
  const chat = await troupe.chat("c")
  await expect(chat.cancel({ task: true } as never)).rejects.toMatchObject({ reason: "invalid_options" })
  await expect(chat.cancel({ tasks: 1 } as never)).rejects.toMatchObject({ reason: "invalid_options" })
})
