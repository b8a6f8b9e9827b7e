import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { tasks } from "../../src/agents/taskTools.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/fakeScript.ts"

const check = leakCheck()

/** A message of several words is a call: the tool, and the id of a task. */
const respond = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  const [name = "", task] = said(last).split(" ")
  if (last?.role !== "user" || !["crawl", "list_tasks", "cancel_task"].includes(name)) return says(`read ${said(last)}`)
  return calls(task === undefined ? name : [name, { task }])
}

const program = async () => {
  let aborted = 0
  const crawl = tool({
    name: "crawl",
    background: true,
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
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
  return { chat: await troupe.chat("c"), clock, aborted: () => aborted }
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
