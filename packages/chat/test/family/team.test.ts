/** TEAM1, TEAM2: the members of a team, and the messages for it. */
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn } from "../double/subagents.ts"
import { board } from "../../src/agents/boardTools.ts"
import { message as tell } from "../../src/agents/messageTools.ts"
import type { Agents } from "../../src/agents.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Request } from "../../src/model/Request.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { memory } from "../../src/store/Store.ts"

const check = leakCheck()

/** Calls the tool that the last input names, such as `writer: a page` or `tell team: hello`, and ends with the results. */
const acting = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  const [, name = "", to = "", words = ""] = /^(\w+) ?(\w*): (.*)$/su.exec(said(last).replace(/^.* says:\n/u, "")) ?? []
  if (last?.role !== "user") return says(`did ${said(last)}`)
  switch (name) {
    case "tell":
      return calls(["tell", { to, message: words }])
    case "write":
      return calls(["write_board", { text: words }])
    case "read":
      return calls(["read_board", { after: Number(words) }])
    case "writer":
    case "critic":
      return calls([name, { input: words }])
    default:
      return says(`did ${said(last)}`)
  }
}

const start = async (team: Partial<NonNullable<Agents[string]["team"]>> = {}, changed: Partial<TroupeOptions> = {}) => {
  const { store = memory() } = changed as { readonly store?: ReturnType<typeof memory> }
  const tools = [tell({ to: ["team"] }), ...board()]
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: acting }),
    tools,
    agents: {
      lead: { team: { members: ["writer", "critic"], ...team } },
      writer: {},
      critic: {}
    },
    agent: "lead",
    store,
    ...changed
  })
  const chat = await troupe.chat("c")
  return { store, chat, troupe }
}

const lines = async ({ store }: Awaited<ReturnType<typeof start>>, id: string) =>
  (await store.load(id))?.thread.messages.map(said) ?? []

/** The ends of tasks in the thread. */
const endsOf = ({ thread }: LocalChatRef) =>
  thread.messages.filter((one) => one.role === "user" && said(one).includes("has ended: done"))

test("TEAM1 the tool of a member gives its one chat another task each time, and the end comes as a message", async () => {
  const started = await start()
  const { chat, store } = started
  await chat.send("writer: one").result()
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done.\ndid one")))
  await chat.send("writer: two").result()
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done.\ndid two")))
  const members = await childrenIn(store)
  expect(members).toHaveLength(1)
  expect(await lines(started, members[0] ?? "")).toEqual(["one", "did one", "two", "did two"])
})

test("TEAM2 a message for the team begins the chats of its members, and has a receipt of each", async () => {
  const started = await start()
  const { chat, store } = started
  await chat.send("tell team: hello").result()
  expect(said(chat.thread.messages[2])).toMatch(
    /^\{"to":"team","receipts":\[\{"receipt":"pending","to":"writer-\w{8}"\},\{"receipt":"pending","to":"critic-\w{8}"\}\]\}$/u
  )
  await until(() => endsOf(chat).length === 2)
  const members = await childrenIn(store)
  expect(members).toHaveLength(2)
  const hello = "The agent that called you (parent) says:\nhello"
  for (const member of members) expect(await lines(started, member)).toEqual([hello, `did ${hello}`])
})

test("TEAM2 a member addresses the others and the leader by name, and a group has no others", async () => {
  const started = await start({ groups: { judges: ["critic"] } })
  const { chat, store } = started
  await chat.send("writer: tell judges: look").result()
  await until(() => endsOf(chat).length === 2)
  const critic = (await childrenIn(store)).find((id) => id.includes("critic")) ?? ""
  expect((await lines(started, critic))[0]).toMatch(/^The agent writer-\w{8} says:\nlook$/u)
  await chat.send("writer: tell parent: hello").result()
  await until(() =>
    chat.thread.messages.some((message) => /^The agent writer-\w{8} says:\nhello$/u.test(said(message)))
  )
  await chat.send("tell nobody: look").result()
  await until(() =>
    chat.thread.messages.some((message) => said(message).includes("there is no agent nobody; there are"))
  )
})

/** The results of calls in the thread. */
const resultsOf = ({ thread }: LocalChatRef) => thread.messages.filter(({ role }) => role === "tool").map(said)

test("BOARD1 the leader and the members write on one board, which the next program has", async () => {
  const { chat, store, troupe } = await start()
  await chat.send("write: first").result()
  await chat.send("writer: write: second").result()
  await until(() => endsOf(chat).length === 1)
  expect(resultsOf(chat)[0]).toBe('{"post":1}')
  expect(said(endsOf(chat)[0] ?? { role: "user", content: "" })).toContain('did {"post":2}')
  await troupe.stop()
  const next = await start({}, { store })
  await next.chat.send("read: 0").result()
  expect(resultsOf(next.chat).at(-1)).toMatch(
    /^\{"posts":\[\{"post":1,"from":"leader","text":"first"\},\{"post":2,"from":"writer-\w{8}","text":"second"\}\],"next":2,"last":2\}$/u
  )
  await next.chat.send("read: 1").result()
  expect(resultsOf(next.chat).at(-1)).toMatch(/^\{"posts":\[\{"post":2,/u)
})

test("BOARD1 a post whose program ended before its result is on the board once", async () => {
  const store = memory()
  const cut = { ...store }
  cut.append = async (...args: Parameters<typeof store.append>) => {
    const appended = await store.append(...args)
    return args[0].includes("/board-") ? new Promise<typeof appended>(() => {}) : appended
  }
  const first = await start({}, { store: cut })
  first.chat
    .send("write: first")
    .result()
    .catch(() => {})
  const boards = async () => (await childrenIn(store)).filter((id) => id.includes("/board-"))
  let found = await boards()
  while (found.length === 0) found = await boards()
  await first.troupe.stop()
  const next = await start({}, { store })
  await next.chat.retry().result()
  await next.chat.send("read: 0").result()
  expect(resultsOf(next.chat).at(-1)).toBe('{"posts":[{"post":1,"from":"leader","text":"first"}],"next":1,"last":1}')
})

test("BOARD2 a post that is too long, one on a full board, and one of a chat without a team are refused", async () => {
  const { chat, store } = await start()
  await chat.send(`write: ${"x".repeat(4_001)}`).result()
  expect(resultsOf(chat).at(-1)).toContain('"refused":"too_long"')
  await chat.send("write: first").result()
  const [id = ""] = await childrenIn(store)
  const record = await store.load(id)
  const [post] = record?.thread.messages ?? []
  if (post === undefined) throw new Error("there is no post")
  const messages = Array.from({ length: 499 }, () => post)
  await store.append(id, [{ type: "MessagesAdded", messages }], { after: record?.version ?? 0, takes: [] })
  await chat.send("write: last").result()
  expect(resultsOf(chat).at(-1)).toContain('"refused":"board_full"')
  await chat.send("read: 480").result()
  expect(resultsOf(chat).at(-1)).toContain('"next":500,"last":500')
  const { chat: alone } = await start({}, { agents: {}, agent: undefined })
  await alone.send("write: first").result()
  expect(resultsOf(alone).at(-1)).toContain("This chat has no board")
})

test("TEAM6 two agents that tell each other for ever come to an end, with the reason", async () => {
  const echoing = check.fake({
    respond: ({ messages }: Request): Script => {
      const last = messages.at(-1)
      if (last?.role === "tool") return says("told")
      return said(last).endsWith("says:\nagain") || said(last) === "go"
        ? calls(["tell", { to: said(last) === "go" ? "writer" : "team", message: "again" }])
        : says("ready")
    }
  })
  const { chat, store } = await start({}, { adapter: echoing, maxAgentMessages: 5 })
  await chat.send("go").result()
  await until(() => chat.getSnapshot()?.context.phase === "idle" && endsOf(chat).length > 0)
  const threads = [...chat.thread.messages]
  for (const id of await childrenIn(store)) threads.push(...((await store.load(id))?.thread.messages ?? []))
  expect(threads.filter((one) => one.role === "user" && said(one).endsWith("says:\nagain"))).toHaveLength(5)
  const refusals = threads.filter((one) => one.role === "tool" && said(one).includes('"reason":"too_many_messages"'))
  expect(refusals.length).toBeGreaterThan(0)
})

test("a team of agents that there are not, or that one tool has the name of, is refused", async () => {
  const adapter = check.fake({ respond: acting })
  const reasons = async (team: unknown): Promise<string> =>
    check.troupe({ adapter, agents: { lead: { team: team as never }, writer: {} } }).then(
      () => "",
      (error: unknown) => String(error)
    )
  expect(await reasons({ members: [] })).toContain("must_have_a_member")
  expect(await reasons({ members: ["lead"] })).toContain("is the agent itself")
  expect(await reasons({ members: ["critic"] })).toContain("agents.lead.team.members.0: unknown")
  expect(await reasons({ members: ["writer", "writer"] })).toContain("is named twice")
  expect(await reasons({ members: ["writer"], groups: { team: [] } })).toContain("is the name of another addressee")
  expect(await reasons({ members: ["writer"], groups: { judges: ["lead"] } })).toContain(
    "lead is no member of the team"
  )
  expect(await reasons({ members: ["writer"], strategy: "one" })).toContain('must_be_"oneForOne"')
})
