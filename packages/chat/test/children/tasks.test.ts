import { expect, test } from "vitest"
import { Clock, Process } from "@troupe/otp"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, said, says } from "../double/scripts.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { Tool, ToolContext } from "../../src/tool/toolContract.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** Calls each tool that the last message names after `!`, and answers everything else with its last text. */
const respond = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  const named = last?.role === "user" ? Array.from(said(last).matchAll(/!(\w+)/g), ([, name]) => name ?? "") : []
  return named.length === 0 ? says(`read ${said(last).split("\n").at(-1)}`) : calls(...named)
}

/** A tool in the background whose work a test ends. */
const working = (options: Partial<Parameters<typeof tool>[0]> = {}) => {
  const done = Promise.withResolvers<unknown>()
  const contexts: Array<ToolContext> = []
  const made: Tool = tool({
    name: "crawl",
    background: true,
    ...options,
    execute: (_, context) => {
      contexts.push(context)
      return done.promise
    }
  })
  return { done, contexts, tool: made }
}

const endsWhenAborted = ({ signal }: ToolContext) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

const starts = async (tools: ReadonlyArray<Tool>, options: Partial<TroupeOptions> = {}) =>
  check.troupe({ adapter: check.fake({ respond }), tools, store: memory(), drainMs: 10, ...options })

const textsOf = (chat: LocalChatRef) => chat.thread.messages.map(said)

const endsOf = (chat: LocalChatRef) =>
  chat.thread.messages.flatMap(({ role, metadata }) =>
    role === "user" && metadata?.["task"] ? [metadata["task"]] : []
  )

const firstTask = async (chat: LocalChatRef) => (await chat.tasks())[0]?.id ?? ""

test("BG1 a call of a tool in the background returns at once, and its end starts a turn of a chat at rest", async () => {
  const work = working()
  const { troupe } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  const [task] = await chat.tasks()
  expect(task).toMatchObject({ tool: "crawl", toolCallId: "c0", status: "running" })
  expect(JSON.parse(textsOf(chat)[2] ?? "")).toMatchObject({ task: task?.id, status: "running" })
  work.done.resolve("42 pages")
  expect(await chat.awaitTask(task?.id ?? "")).toEqual({ status: "done", text: "42 pages" })
  await until(() => textsOf(chat).at(-1) === "read 42 pages")
  expect(textsOf(chat)).toHaveLength(6)
  expect(endsOf(chat)).toEqual([{ id: task?.id, tool: "crawl", status: "done" }])
  expect(await chat.tasks()).toEqual([])
  expect(await chat.awaitTask(task?.id ?? "")).toEqual({ status: "done", text: "42 pages" })
})

test("the turn that the end of a task begins is awaited, also from before the end", async () => {
  const work = working()
  const { troupe } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  const id = await firstTask(chat)
  const turn = chat.taskTurn(id)
  work.done.resolve("42 pages")
  expect(await chat.awaitTask(id)).toEqual({ status: "done", text: "42 pages" })
  const begun = await turn
  expect(begun.id).toBe(`task/${id}`)
  expect((await begun.result()).finalResponse?.outputText).toBe("read 42 pages")
  const over = await chat.taskTurn(id)
  await expect(over.result()).rejects.toMatchObject({ reason: "already_delivered" })
  await expect(chat.taskTurn("none")).rejects.toMatchObject({ reason: "unknown_task" })
})

test("the turn of a task whose chat is stopped before its end does not begin here", async () => {
  const work = working()
  const { troupe } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  const refusal = chat.taskTurn(await firstTask(chat)).catch((error: unknown) => error)
  const deleted = troupe.delete("c")
  expect(await refusal).toMatchObject({ reason: "chat_stopped" })
  work.done.resolve("late")
  await deleted
})

test("BG2 a task starts after the store has the result of its call", async () => {
  const work = working()
  const store = memory()
  const { troupe } = await starts([work.tool], { store })
  const kept: Array<number> = []
  const chat = await troupe.chat("c")
  chat.subscribe(() => kept.push(work.contexts.length))
  await chat.send("!crawl").result()
  await until(() => work.contexts.length === 1)
  const record = await store.load("c")
  expect(record?.tasks?.map(({ key }) => key)).toEqual([work.contexts[0]?.idempotencyKey])
  const entries = await store.history("c")
  expect(entries.filter(({ state }) => state.tasks !== undefined).length).toBeGreaterThan(0)
  work.done.resolve("")
})

test("BG3 a task goes on while its chat is unloaded, and its end loads the chat", async () => {
  const work = working()
  const { troupe, clock } = await starts([work.tool], { passivateAfterMs: 1_000 })
  await (await troupe.chat("c")).send("!crawl").result()
  await until(() => work.contexts.length === 1)
  for (let turn = 0; turn < 8 && troupe.isAlive("c"); turn++) await clock.advance(500)
  expect(troupe.isAlive("c")).toBe(false)
  work.done.resolve("late")
  await until(() => troupe.isAlive("c"))
  const chat = await troupe.chat("c")
  await until(() => textsOf(chat).at(-1) === "read late")
  expect(endsOf(chat)).toHaveLength(1)
})

test("BG3 a task begins in the first turn of a chat that was unloaded, also by the reference from before", async () => {
  const work = working()
  work.done.resolve("late")
  const { troupe, clock } = await starts([work.tool], { passivateAfterMs: 1_000 })
  const chat = await troupe.chat("c")
  await chat.send("hello").result()
  for (let turn = 0; turn < 8 && troupe.isAlive("c"); turn++) await clock.advance(500)
  expect(troupe.isAlive("c")).toBe(false)
  await chat.send("!crawl").result()
  expect(textsOf(chat).some((text) => text.startsWith('{"task":'))).toBe(true)
})

test("BG3 a task goes on when its chat is stopped, and its end starts the chat again", async () => {
  const work = working()
  const { troupe } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  const waiting = chat.awaitTask(await firstTask(chat))
  await chat.stop()
  expect(troupe.isAlive("c")).toBe(false)
  work.done.resolve("late")
  expect(await waiting).toEqual({ status: "done", text: "late" })
  await until(() => troupe.isAlive("c"))
  const again = await troupe.chat("c")
  await until(() => textsOf(again).at(-1) === "read late")
})

test.each([
  { effect: "read" as const, status: "done", runs: 2 },
  { onUnknown: "retry" as const, status: "done", runs: 2 },
  { status: "interrupted", runs: 1 }
])("BG4 the next program continues or ends a task that a former one left: $effect $onUnknown", async (rules) => {
  const { status, runs, ...options } = rules
  const keys: Array<string> = []
  const begun = (work: (context: ToolContext) => unknown) =>
    tool({
      name: "crawl",
      background: true,
      ...options,
      execute: (_, context) => {
        keys.push(context.idempotencyKey)
        return work(context)
      }
    })
  const store = memory()
  const first = await starts([begun(endsWhenAborted)], { store })
  await (await first.troupe.chat("c")).send("!crawl").result()
  await until(() => keys.length === 1)
  await first.troupe.stop()
  const second = await starts([begun(() => "again")], { store })
  await until(() => second.troupe.isAlive("c"))
  const chat = await second.troupe.chat("c")
  await until(() => endsOf(chat).length === 1 && textsOf(chat).at(-1)?.startsWith("read") === true)
  expect(endsOf(chat)).toMatchObject([{ status }])
  expect(new Set(keys).size).toBe(1)
  expect(keys).toHaveLength(runs)
})

test("BG5 the end of a task joins the running turn", async () => {
  const work = working()
  const other = Promise.withResolvers<string>()
  const wait = tool({ name: "wait", execute: () => other.promise })
  const { troupe } = await starts([work.tool, wait])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  const turn = chat.send("!wait")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  work.done.resolve("joined")
  await until(() => (chat.getSnapshot()?.context.inbox.length ?? 0) === 1)
  other.resolve("waited")
  const result = await turn.result()
  expect(result.finalResponse?.outputText).toBe("read joined")
  expect(textsOf(chat).slice(4, 8)).toMatchObject(["!wait", "", "waited", expect.stringContaining("joined")])
})

test("BG5 the end of a task does not answer a question, and joins the turn of the answer", async () => {
  const work = working()
  const ask = tool({ name: "ask", execute: () => askUser("Which one?") })
  const { troupe } = await starts([work.tool, ask])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await chat.send("!ask").result()
  work.done.resolve("found")
  await until(() => (chat.getSnapshot()?.context.inbox.length ?? 0) === 1)
  expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe("Which one?")
  const result = await chat.send("this one").result()
  expect(result.finalResponse?.outputText).toBe("read found")
  expect(textsOf(chat).filter((text) => text === "this one")).toHaveLength(1)
  expect(endsOf(chat)).toHaveLength(1)
})

test("BG1, REF11 the end of a task cannot be withdrawn, and is in the thread after a restart", async () => {
  const work = working()
  const store = memory()
  const ask = tool({ name: "ask", execute: () => askUser("Which one?") })
  const first = await starts([work.tool, ask], { store })
  const before = await first.troupe.chat("c")
  await before.send("!crawl").result()
  await before.send("!ask").result()
  work.done.resolve("found")
  await until(() => (before.getSnapshot()?.context.inbox.length ?? 0) === 1)
  const end = before.getSnapshot()?.context.inbox[0]?.id ?? ""
  const refusal = { reason: "invalid_options", message: expect.stringContaining("cancelTask") as string }
  await expect(before.withdraw(end)).rejects.toMatchObject({ ...refusal, errors: [{ field: ["input"] }] })
  await expect(before.cancel({ turn: end })).rejects.toMatchObject({ ...refusal, errors: [{ field: ["turn"] }] })
  await first.troupe.stop()
  const { troupe } = await starts([work.tool, ask], { store })
  const chat = await troupe.chat("c")
  await expect(chat.withdraw(end)).rejects.toMatchObject(refusal)
  await chat.send("this one").result()
  await until(() => endsOf(chat).length === 1 && chat.getSnapshot()?.value === "idle")
  expect(await chat.tasks()).toEqual([])
})

test("BG6 a cancelled task ends cancelled, and a cancelled turn leaves its tasks", async () => {
  const work = working()
  const { troupe, clock } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await chat.cancel()
  await until(() => work.contexts.length === 1)
  expect(await chat.tasks()).toHaveLength(1)
  const cancelling = chat.cancelTask(await firstTask(chat))
  await until(() => work.contexts[0]?.signal.aborted === true)
  await clock.advance(10)
  await cancelling
  await until(() => textsOf(chat).at(-1)?.startsWith("read") === true)
  expect(endsOf(chat)).toMatchObject([{ status: "cancelled" }])
  work.done.resolve("late")
})

test("BG6 a task that misses its deadline ends timed_out", async () => {
  const work = working({ timeoutMs: 5_000 })
  const { troupe, clock } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await until(() => work.contexts.length === 1)
  await clock.advance(5_000)
  await until(() => endsOf(chat).length === 1)
  expect(endsOf(chat)).toMatchObject([{ status: "timed_out" }])
  work.done.resolve("late")
})

test("BG6 a task whose process dies, and one whose handler throws, end failed", async () => {
  const work = working()
  const bad = tool({ name: "bad", background: true, execute: () => Promise.reject(new Error("no network")) })
  const { troupe, system } = await starts([work.tool, bad], { onCrash: () => {} })
  const chat = await troupe.chat("c")
  await chat.send("!crawl !bad").result()
  await until(() => work.contexts.length === 1)
  const [process] = processesOf(system, "Task crawl")
  if (process !== undefined) Process.kill(process)
  await until(() => endsOf(chat).length === 2)
  expect(endsOf(chat)).toMatchObject([{ status: "failed" }, { status: "failed" }])
  expect(textsOf(chat).join("\n")).toContain("no network")
  work.done.resolve("late")
})

test("BG7 a call beyond the bound is refused, and the model reads that", async () => {
  const work = working()
  const { troupe } = await starts([work.tool], { maxTasks: 1 })
  const chat = await troupe.chat("c")
  await chat.send("!crawl !crawl").result()
  expect(textsOf(chat)[3]).toContain("1 background tasks run for this chat")
  expect(await chat.tasks()).toHaveLength(1)
  work.done.resolve("")
})

test("BG7 with afterMs a call becomes a task when it still runs, and keeps its result when it does not", async () => {
  const work = working({ background: { afterMs: 1_000 } })
  const quick = tool({ name: "quick", background: { afterMs: 1_000 }, execute: () => "at once" })
  const { troupe, clock } = await starts([work.tool, quick], { schedule: "concurrent" })
  const chat = await troupe.chat("c")
  const turn = chat.send("!crawl !quick").result()
  await until(() => work.contexts.length === 1)
  work.contexts[0]?.progress("half")
  await clock.advance(1_000)
  await turn
  expect(textsOf(chat)[3]).toBe("at once")
  expect(await chat.tasks()).toMatchObject([{ tool: "crawl", status: "running", progress: "half" }])
  work.done.resolve("slow")
  await until(() => textsOf(chat).at(-1) === "read slow")
})

test("BG7 a cancel before afterMs cancels the call", async () => {
  const work = working({ background: { afterMs: 1_000 } })
  const { troupe, clock } = await starts([work.tool])
  const chat = await troupe.chat("c")
  const turn = chat.send("!crawl").result()
  await until(() => work.contexts.length === 1)
  const cancelled = chat.cancel()
  await until(() => work.contexts[0]?.signal.aborted === true)
  await clock.advance(10)
  await cancelled
  expect((await turn).haltedReason).toBe("cancelled")
  expect(await chat.tasks()).toEqual([])
  work.done.resolve("late")
})

test("BG8 the deletion of its chat, and a rewind to before its call, cancel a task", async () => {
  const works = [working(), working({ name: "dig" })]
  const { troupe, clock } = await starts(works.map((work) => work.tool))
  await (await troupe.chat("c")).send("!crawl").result()
  await (await troupe.chat("d")).send("!dig").result()
  await until(() => works.every(({ contexts }) => contexts.length === 1))
  const rewound = troupe.rewind("d", 0)
  const chat = await troupe.chat("c")
  const waiting = chat.awaitTask(await firstTask(chat)).catch((error: unknown) => error)
  const deleted = troupe.delete("c")
  await until(() => works.every(({ contexts }) => contexts[0]?.signal.aborted === true))
  await clock.advance(10)
  await Promise.all([rewound, deleted])
  expect(await waiting).toMatchObject({
    reason: "chat_stopped",
    message: "The chat c was deleted, and its background tasks were cancelled"
  })
  expect(await (await troupe.chat("d")).tasks()).toEqual([])
  expect(await troupe.has("c")).toBe(false)
  for (const { done } of works) done.resolve("late")
})

test.each([{}, { onUnknown: "retry" as const }])(
  "TASKREC2 a task whose end was reported does not run again after a rewind to before its end: $onUnknown",
  async (options) => {
    const work = working(options)
    const store = memory()
    const { troupe } = await starts([work.tool], { store })
    const chat = await troupe.chat("c")
    await chat.send("!crawl").result()
    const entry = (await troupe.history("c")).at(-1)?.seq ?? 0
    work.done.resolve("done")
    await until(() => textsOf(chat).at(-1) === "read done" && chat.getSnapshot()?.context.phase === "idle")
    for (const seq of [entry, 0, entry]) await troupe.rewind("c", seq)
    expect(await chat.tasks()).toEqual([])
    expect((await chat.send("next").result()).finalResponse?.outputText).toBe("read next")
    expect(endsOf(chat)).toEqual([])
    expect(work.contexts).toHaveLength(1)
    expect((await troupe.list()).chats).toMatchObject([{ running: false }])
  }
)

test("an id that belongs to the end of a task is refused, and so is an unknown task", async () => {
  const { troupe } = await starts([])
  const chat = await troupe.chat("c")
  expect(() => chat.send("hi", { id: "task/1" })).toThrow("must_not_begin_with task/")
  await expect(chat.cancelTask("1")).rejects.toMatchObject({ reason: "unknown_task" })
  await expect(chat.awaitTask("1")).rejects.toMatchObject({ reason: "unknown_task" })
})

test.each([true, false])(
  "BG8 a rewind to before its call takes back the end of a task that waits: in memory %j",
  async (isLive) => {
    const work = working()
    const which = tool({ name: "which", execute: () => askUser("Which one?") })
    const store = memory()
    const { troupe } = await starts([work.tool, which], { store })
    const chat = await troupe.chat("c")
    await chat.send("hello").result()
    const entry = (await troupe.history("c")).at(-1)?.seq ?? 0
    await chat.send("!crawl !which").result()
    const task = await firstTask(chat)
    work.done.resolve("42 pages")
    await chat.awaitTask(task)
    await until(() => chat.getSnapshot()?.context.inbox.length === 1)
    if (!isLive) await chat.stop()
    await troupe.rewind("c", entry, { cancel: true })
    await hop()
    const again = await troupe.chat("c")
    expect((await again.send("next").result()).finalResponse?.outputText).toBe("read next")
    expect(textsOf(again)).toEqual(["hello", "read hello", "next", "read next"])
    expect((await store.load("c"))?.inbox).toBe(undefined)
  }
)

test("BG8 a rewind to before its call cancels a task of a chat that was stopped", async () => {
  const work = working()
  const { troupe, clock } = await starts([work.tool])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await until(() => work.contexts.length === 1)
  const entry = (await troupe.history("c")).at(-1)?.seq ?? 0
  await chat.stop()
  await troupe.rewind("c", entry)
  await hop()
  expect(work.contexts[0]?.signal.aborted).toBe(false)
  await troupe.rewind("c", 0)
  await until(() => work.contexts[0]?.signal.aborted === true)
  await clock.advance(10)
  work.done.resolve("late")
  await hop()
  expect(textsOf(await troupe.chat("c"))).toEqual([])
})

test("BG2 the end of a task whose conversation is gone from the store begins no conversation", async () => {
  const work = working()
  const store = memory()
  const { troupe } = await starts([work.tool], { store })
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await until(() => work.contexts.length === 1)
  await chat.stop()
  await store.delete("c")
  work.done.resolve("42 pages")
  await until(() => troupe.isAlive("c"))
  await hop()
  expect(textsOf(await troupe.chat("c"))).toEqual([])
  expect(await store.load("c")).toBe(undefined)
})

test("BG5 an end that waits for the answer to a question is no turn: a cancel does not wait for it, and the answer is taken", async () => {
  const work = working()
  const which = tool({ name: "which", execute: () => askUser("Which one?") })
  const { troupe } = await starts([work.tool, which])
  const chat = await troupe.chat("c")
  await chat.send("!crawl !which").result()
  work.done.resolve("42 pages")
  await until(() => chat.getSnapshot()?.context.inbox.length === 1)
  let isCancelled = false
  void chat.cancel().then(() => (isCancelled = true))
  await hop()
  expect(isCancelled).toBe(true)
  const { haltedReason } = await chat.send("the blue one", { whenBusy: "reject" }).result()
  expect(haltedReason).toBe("completed")
  await until(() => endsOf(chat).length === 1)
})

test("BG3 an unloaded chat does not expire while it has a task", async () => {
  const work = working()
  const time = Clock.test()
  const store = memory({ clock: time, ttlMs: 1_000 })
  const { troupe, clock } = await starts([work.tool], { store, passivateAfterMs: 1_000 })
  await (await troupe.chat("c")).send("!crawl").result()
  await until(() => work.contexts.length === 1)
  for (let turn = 0; turn < 8 && troupe.isAlive("c"); turn++) await clock.advance(500)
  await time.advance(5_000)
  await clock.advance(60_000)
  expect(troupe.isAlive("c")).toBe(false)
  work.done.resolve("late")
  await until(() => troupe.isAlive("c"))
  const chat = await troupe.chat("c")
  await until(() => textsOf(chat).at(-1) === "read late")
  expect(textsOf(chat)[0]).toBe("!crawl")
})

test("BG6 a long question of a task is in its end with the number of the characters left out", async () => {
  const long = "long ".repeat(5_000)
  const { troupe } = await starts([tool({ name: "crawl", background: true, execute: () => askUser(long) })])
  const chat = await troupe.chat("c")
  await chat.send("!crawl").result()
  await until(() => endsOf(chat).length === 1)
  const end = textsOf(chat).find((text) => text.startsWith("The background task"))
  expect(end).toContain(`long … (${long.length - 2_000} characters more)\n`)
})
