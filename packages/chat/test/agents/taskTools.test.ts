import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { tasks } from "../../src/agents/taskTools.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** A message of several words is a call: the tool, and the id of a task or the seconds of a wait. */
const respond = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  const [name = "", task] = said(last).split(" ")
  if (last?.role !== "user" || !["crawl", "list_tasks", "wait_tasks", "cancel_task"].includes(name)) {
    return says(`read ${said(last)}`)
  }
  if (name === "wait_tasks") return calls([name, { seconds: Number(task) }])
  return calls(task === undefined ? name : [name, { task }])
}

const program = async () => {
  let aborted = 0
  const crawled = Promise.withResolvers<string>()
  const crawl = tool({
    name: "crawl",
    background: true,
    execute: (_, { signal }) =>
      new Promise((resolve, reject) => {
        void crawled.promise.then(resolve)
        signal.addEventListener("abort", () => {
          aborted += 1
          reject(signal.reason as Error)
        })
      })
  })
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ respond }),
    tools: [crawl, ...tasks()],
    store: memory(),
    drainMs: 10
  })
  return { chat: await troupe.chat("c"), clock, aborted: () => aborted, crawled: crawled.resolve }
}

test("TASKTOOL1 a model lists the tasks of its chat, and cancels one: the work has ended when it reads the result", async () => {
  const { chat, clock, aborted } = await program()
  await chat.send("crawl").result()
  const [task] = await chat.tasks()
  await clock.advance(2_000)
  await chat.send("list_tasks").result()
  expect(said(chat.thread.messages.at(-1))).toBe(
    `read ${JSON.stringify({ tasks: [{ task: task?.id, tool: "crawl", status: "running", seconds: 2 }] })}`
  )
  await chat.send(`cancel_task ${task?.id}`).result()
  expect(aborted()).toBe(1)
  const results = chat.thread.messages.filter(({ role }) => role === "tool").map(said)
  expect(results.at(-1)).toBe(JSON.stringify({ task: task?.id, status: "cancelled" }))
  const ends = () => chat.thread.messages.filter((message) => said(message).startsWith("The background task"))
  await until(() => ends().length === 1 && chat.getSnapshot()?.context.phase === "idle")
  expect(said(ends()[0])).toContain("has ended: cancelled.")
  expect(await chat.tasks()).toEqual([])
})

test("TASKTOOL1 a cancel of a task that does not run fails, and the model reads those that do", async () => {
  const { chat } = await program()
  await chat.send("cancel_task none").result()
  expect(said(chat.thread.messages.at(-1))).toContain("No background task none runs; this conversation has none")
  await chat.send("crawl").result()
  const [task] = await chat.tasks()
  await chat.send("cancel_task other").result()
  expect(said(chat.thread.messages.at(-1))).toContain(`No background task other runs; there are ${task?.id}`)
})

const isRunning = ({ name, status }: { readonly name: string; readonly status: string }) =>
  name === "wait_tasks" && status === "running"

const waits = (chat: LocalChatRef) => until(() => chat.getSnapshot()?.context.toolCalls.some(isRunning) === true)

const waited = (chat: LocalChatRef) => {
  const results = chat.thread.messages.filter(({ role }) => role === "tool")
  return JSON.parse(said(results.at(-1))) as { readonly reason: string; readonly tasks: ReadonlyArray<object> }
}

test("TASKTOOL2 a model waits for its tasks, and reads the first end of one", async () => {
  const { chat, crawled } = await program()
  await chat.send("crawl").result()
  const turn = chat.send("wait_tasks 60")
  await waits(chat)
  crawled("done")
  await turn.result()
  expect(waited(chat)).toMatchObject({ reason: "ended", tasks: [{ tool: "crawl", status: "done" }] })
  const ends = () => chat.thread.messages.filter((message) => said(message).startsWith("The background task"))
  await until(() => ends().length === 1 && chat.getSnapshot()?.context.phase === "idle")
})

test("TASKTOOL2 a wait for tasks ends when its time is over, and the tasks go on", async () => {
  const { chat, clock } = await program()
  await chat.send("crawl").result()
  const turn = chat.send("wait_tasks 60")
  await waits(chat)
  await clock.advance(59_000)
  expect(chat.getSnapshot()?.context.toolCalls).toMatchObject([{ name: "wait_tasks", status: "running" }])
  await clock.advance(1_000)
  await turn.result()
  expect(waited(chat)).toMatchObject({ reason: "time", tasks: [{ status: "running", seconds: 60 }] })
})

test("TASKTOOL2 a wait for tasks ends when an input waits, and the model reads the input next", async () => {
  const { chat } = await program()
  await chat.send("crawl").result()
  const turn = chat.send("wait_tasks 60")
  await waits(chat)
  chat.note("and now?", { whenBusy: "steer" })
  await turn.result()
  expect(waited(chat).reason).toBe("message")
  expect(said(chat.thread.messages.at(-1))).toBe("read and now?")
})

test("TASKTOOL2 a cancel of the turn ends a wait for tasks at once, and the task goes on", async () => {
  const { chat, clock } = await program()
  await chat.send("crawl").result()
  const turn = chat.send("wait_tasks 600")
  await waits(chat)
  const before = clock.now()
  await chat.cancel()
  expect(await turn.result()).toMatchObject({ haltedReason: "cancelled" })
  expect(clock.now()).toBe(before)
  expect(await chat.tasks()).toMatchObject([{ status: "running" }])
})

test("TASKTOOL2 a wait without a task is over at once, and one of more than ten minutes is refused", async () => {
  const { chat } = await program()
  await chat.send("wait_tasks 60").result()
  expect(waited(chat)).toEqual({ reason: "none", tasks: [] })
  await chat.send("wait_tasks 601").result()
  expect(said(chat.thread.messages.at(-1))).toContain("600")
})
