/** Each verb of the server's own routes, called over the wire in a conversation with values that clients do not get. */
import { Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { expect, test } from "vitest"
import { everyRoute } from "../../src/routes/index.ts"
import { until } from "../double/linked.ts"
import { reading, served } from "../double/served.ts"

const secret = "hunter2"

/** What no client gets: the text of a tool's error, and an id of the Troupe. */
const hidden = [secret, "anna/", "anna%2F"]

const call = (id: string, name: string, args: object = {}): Fake.Script => [
  { toolCall: { id, name, arguments: { ...args } } }
]
const finish = { finish: "tool_calls" } as const
const says: Fake.Script = [{ text: "Done." }, { finish: "stop" }]
const often = Array.from({ length: 20 }, () => says)

const throwing = (): never => {
  throw new Error(`connect db://app:${secret}@db failed`)
}

/** A conversation with a failed call, a failed task, a sub-agent that waits, and a turn that runs on. */
const world = async () => {
  const ask = tool({ name: "pay", execute: () => "paid" })
  const inner = await served(
    {
      adapter: Fake.make({
        scripts: [
          [...call("f1", "fail"), ...call("b1", "crawl"), ...call("s1", "research", { input: "Dig" }), finish],
          ...often
        ]
      }),
      tools: [
        tool({ name: "fail", execute: throwing }),
        tool({ name: "crawl", background: true, execute: throwing }),
        Agents.subagent("research", { events: true })
      ],
      agents: {
        research: {
          adapter: Fake.make({ scripts: [[...call("k0", "fail"), ...call("k1", "pay"), finish], ...often] }),
          tools: [tool({ name: "fail", execute: throwing }), ask],
          permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
        }
      }
    },
    { authorize: () => ({ owner: "anna", may: { approve: true, agents: true } }) }
  )
  const begun = await inner.ask("POST", "/chats/c/messages?wait", { input: "Go" })
  const chat = await inner.troupe.chat("anna/c")
  await until(() => chat.getSnapshot()?.context.tasks.every(({ status }) => status !== "running") === true)
  return { ...inner, chat, begun: await begun.text() }
}

const events = { accept: "text/event-stream" }

/** The requests of each route, in an order in which each has something to answer. `task` and `call` are ids of the conversation. */
const requests = (task: string, waits: string): Readonly<Record<string, ReadonlyArray<unknown>>> => ({
  "GET /chats": ["/chats"],
  "GET /waiting": ["/waiting"],
  "GET /memories": ["/memories"],
  "DELETE /memories/:memory": ["/memories/m1"],
  "GET /chats/:id": ["/chats/c"],
  "GET /chats/:id/view": ["/chats/c/view"],
  "GET /chats/:id/events": ["/chats/c/events"],
  "GET /chats/:id/history": ["/chats/c/history"],
  "GET /chats/:id/tasks": ["/chats/c/tasks"],
  "GET /chats/:id/tasks/:task": [`/chats/c/tasks/${task}`],
  "GET /chats/:id/blobs/:blob": [`/chats/c/blobs/${"0".repeat(64)}`],
  "POST /chats/:id/approvals/:toolCallId": [
    `/chats/c/approvals/${encodeURIComponent(waits)}`,
    { type: "allow" },
    events
  ],
  "POST /chats/:id/messages": ["/chats/c/messages?wait", { input: "And?" }],
  "POST /chats/:id/retry": ["/chats/c/retry", {}, events],
  "POST /chats/:id/compact": ["/chats/c/compact", {}],
  "POST /chats/:id/answer": ["/chats/c/answer?wait", { input: "Yes" }],
  "POST /chats/:id/results": ["/chats/c/results", { results: { none: 1 } }],
  "POST /chats/:id/cancel": ["/chats/c/cancel", {}],
  "POST /chats/:id/withdraw": ["/chats/c/withdraw", { input: "none" }],
  "POST /chats/:id/resume": ["/chats/c/resume", {}],
  "POST /chats/:id/tools/:toolCallId/cancel": ["/chats/c/tools/f1/cancel", {}],
  "POST /chats/:id/tools/:toolCallId/restart": ["/chats/c/tools/f1/restart", {}],
  "POST /chats/:id/tasks/:task/cancel": [`/chats/c/tasks/${task}/cancel`, {}],
  "POST /chats/:id/mode": ["/chats/c/mode", { mode: "plan" }],
  "POST /chats/:id/handoff": ["/chats/c/handoff", { agent: "research" }],
  "POST /chats/:id/fork": ["/chats/c/fork", {}],
  "POST /chats/:id/rewind": ["/chats/c/rewind", { seq: 1, cancel: true }],
  "DELETE /chats/:id": ["/chats/c"]
})

/** The reads of the other protocols. */
const others: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
  "/api/chat/c/messages",
  "/ag-ui/c/messages",
  "/v1/conversations/c/items?limit=100"
].map((path) => [`GET ${path}`, [path]])

/** The whole answer, or the first frame of a stream without an end. */
const textOf = async (method: string, response: Response): Promise<string> => {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  if (method === "POST" || !isStream) return response.text()
  const stream = reading(response)
  const text = await stream.until('"type"')
  await stream.leave()
  return text
}

test("VERB2 no answer of a verb has a value that its filter drops", async () => {
  const { ask, chat, begun } = await world()
  const { tasks, pendingApprovals } = chat.getSnapshot()?.context ?? { tasks: [], pendingApprovals: [] }
  const all = requests(tasks[0]?.id ?? "", pendingApprovals[0]?.toolCall.id ?? "")
  const own = everyRoute.filter(
    ({ path }) => path.startsWith("/chats") || ["/waiting", "/memories", "/memories/:memory"].includes(path)
  )
  expect(Object.keys(all).toSorted()).toEqual(own.map(({ method, path }) => `${method} ${path}`).toSorted())
  const answers: Array<readonly [string, number, string]> = [["the first turn", 200, begun]]
  const reads = Object.entries(all).filter(([route]) => route.startsWith("GET"))
  const writes = Object.entries(all).slice(reads.length)
  // The conversation is read before the writes, and after them.
  const order = [...reads, ...writes.slice(0, -3), ...reads, ...others, ...writes.slice(-3)]
  for (const [route, [path, body, headers]] of order) {
    const [method = ""] = route.split(" ")
    const response = await ask(method, String(path), body, headers as Readonly<Record<string, string>>)
    answers.push([route, response.status, await textOf(method, response)])
  }
  // Most verbs have a result: a refusal would show nothing.
  expect(answers.filter(([, status]) => status < 300).length).toBeGreaterThan(29)
  expect(answers.map(([, , text]) => text).join("")).toContain(String.raw`{\"error\":\"failed\",\"id\":\"f1\"}`)
  const found = answers.flatMap(([route, , text]) =>
    hidden.flatMap((value) => {
      const at = text.indexOf(value)
      return at === -1 ? [] : [[route, text.slice(Math.max(0, at - 100), at + 100)]]
    })
  )
  expect(found).toEqual([])
  // The end of the failed task is there, without its error.
  const ends = answers.flatMap(([route, , text]) => (text.includes("(crawl) has ended: failed.") ? [route] : []))
  expect(ends).toEqual(
    expect.arrayContaining(["GET /chats/:id", "GET /chats/:id/history", ...others.map(([route]) => route)])
  )
  for (const word of ["done", secret]) {
    const { chats } = (await (await ask("GET", `/chats?search=${word}`)).json()) as { readonly chats: [] }
    expect([word, chats.length]).toEqual([word, word === secret ? 0 : 1])
  }
})
