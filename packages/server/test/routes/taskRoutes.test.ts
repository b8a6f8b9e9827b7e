/** The background tasks of a chat over HTTP. */
import { Fake, type RunningTroupe, tool } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Tool } from "@troupe/chat/tools"
import type { ChatView } from "@troupe/chat/view"
import { expect, test } from "vitest"
import { codeOf, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

type ShownTask = ChatView.ChatView["tasks"][number]

/** Calls `crawl` for "Go", and repeats anything else. */
const adapter = () =>
  Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      const said = last === undefined ? "" : Message.text(last)
      return last?.role === "user" && said === "Go"
        ? [{ toolCall: { id: "c1", name: "crawl", arguments: {} } }, { finish: "tool_calls" }]
        : [{ text: `read ${said}` }, { finish: "stop" }]
    }
  })

/** A server over a socket whose chat `c` of `anna` has a task. The owner is who the `authorization` names. */
const crawling = async () => {
  const pages = Promise.withResolvers<string>()
  const contexts: Array<Tool.ToolContext> = []
  const crawl = tool({
    name: "crawl",
    background: true,
    execute: (_, context) => {
      contexts.push(context)
      context.signal.addEventListener("abort", () => pages.reject(context.signal.reason))
      return pages.promise
    }
  })
  const { url, troupe } = await serving(
    { adapter: adapter(), tools: [crawl], drainMs: 1_000 },
    {
      authorize: ({ headers }) => {
        const owner = headers.get("authorization")
        return owner === null ? { deny: 401 } : { owner }
      }
    }
  )
  const ask = (method: "GET" | "POST", path: string, owner: string | undefined = "anna", body: unknown = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        ...(owner === "" ? {} : { authorization: owner }),
        ...(method === "POST" ? { "content-type": "application/json" } : {})
      },
      ...(method === "POST" ? { body: JSON.stringify(body) } : {})
    })
  const listed = async (): Promise<ReadonlyArray<ShownTask>> => {
    const { tasks } = (await (await ask("GET", "/chats/c/tasks")).json()) as {
      readonly tasks: ReadonlyArray<ShownTask>
    }
    return tasks
  }
  await ask("POST", "/chats/c/messages?wait", "anna", { input: "Go" })
  await until(() => contexts.length === 1)
  const [task] = await listed()
  return { ask, listed, troupe, pages, context: contexts[0], path: `/chats/c/tasks/${task?.id}`, task }
}

/** Waits until the chat has answered the end of its task. */
const answered = async (troupe: RunningTroupe): Promise<ReadonlyArray<string>> => {
  const chat = await troupe.chat("anna/c")
  const texts = () => chat.thread.messages.map(Message.text)
  await until(() => texts().length === 6)
  return texts()
}

test("a running task is listed with its progress, and its path returns it until it ends, and then its end", async () => {
  const { ask, listed, troupe, pages, context, path, task } = await crawling()
  expect(task).toMatchObject({ toolCallId: "c1", tool: "crawl", status: "running" })
  context?.progress("7 pages")
  expect(await listed()).toEqual([{ ...task, progress: "7 pages" }])
  expect(await (await ask("GET", path)).json()).toEqual({ ...task, progress: "7 pages" })
  pages.resolve("42 pages")
  expect((await answered(troupe)).at(-1)).toContain("42 pages")
  const ended = await ask("GET", path)
  expect([ended.status, await ended.json()]).toEqual([200, { status: "done", text: "42 pages" }])
  expect(await listed()).toEqual([])
})

test("a cancel responds when the work has ended, and the task has ended cancelled", async () => {
  const { ask, troupe, context, path } = await crawling()
  const cancelled = await ask("POST", `${path}/cancel`)
  expect([cancelled.status, await cancelled.json(), context?.signal.aborted]).toEqual([200, { ok: true }, true])
  await answered(troupe)
  expect(await (await ask("GET", path)).json()).toMatchObject({ status: "cancelled" })
})

test("CHAIN5 a cancel of the chat with `tasks` ends them, and no end begins a turn", async () => {
  const { ask, listed, troupe, context } = await crawling()
  const cancelled = await ask("POST", "/chats/c/cancel", "anna", { tasks: true })
  expect([cancelled.status, await cancelled.json(), context?.signal.aborted]).toEqual([200, { ok: true }, true])
  expect(await listed()).toMatchObject([{ status: "cancelled" }])
  const chat = await troupe.chat("anna/c")
  expect(chat.thread.messages).toHaveLength(4)
  await ask("POST", "/chats/c/messages?wait", "anna", { input: "And now?" })
  expect(await listed()).toEqual([])
  expect(await codeOf(await ask("POST", "/chats/c/cancel", "anna", { tasks: "all" }))).toBe("422 invalid_input")
})

test("an unknown task is refused with 404 `unknown_task`", async () => {
  const { ask, listed } = await crawling()
  expect(await codeOf(await ask("GET", "/chats/c/tasks/none"))).toBe("404 unknown_task")
  expect(await codeOf(await ask("POST", "/chats/c/tasks/none/cancel"))).toBe("404 unknown_task")
  expect(await listed()).toMatchObject([{ status: "running" }])
})

test("another owner finds the task neither in a chat of that id, nor in one of its own", async () => {
  const { ask, listed, path } = await crawling()
  for (const code of ["404 unknown_chat", "404 unknown_task"]) {
    expect(await codeOf(await ask("GET", path, "bob"))).toBe(code)
    expect(await codeOf(await ask("POST", `${path}/cancel`, "bob"))).toBe(code)
    await ask("POST", "/chats/c/messages?wait", "bob", { input: "Hello" })
  }
  expect(await (await ask("GET", "/chats/c/tasks", "bob")).json()).toEqual({ tasks: [] })
  expect(await listed()).toMatchObject([{ status: "running" }])
})

test("a caller that `authorize` denies is refused, and the task goes on", async () => {
  const { ask, listed, context, path } = await crawling()
  for (const [method, where] of [
    ["GET", "/chats/c/tasks"],
    ["GET", path],
    ["POST", `${path}/cancel`]
  ] as const) {
    expect(await codeOf(await ask(method, where, ""))).toBe("401 unauthorized")
  }
  expect(context?.signal.aborted).toBe(false)
  expect(await listed()).toMatchObject([{ status: "running" }])
})
