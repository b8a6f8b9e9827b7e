/** The meaning of a post in each protocol, as `docs/posts.md` lists it: each row is asked of a server. */
import { readFileSync } from "node:fs"
import { askUser, Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Server from "../../src/server/Server.ts"
import { type Ask, clients, type Column, columns, type Past, type Post } from "../double/posts.ts"
import { turn, until } from "../double/served.ts"

const call = (id: string, name: string) => ({ toolCall: { id, name } })

const calls: Readonly<Record<string, ReadonlyArray<ReturnType<typeof call>>>> = {
  ASK: [call("q0", "asks")],
  PAY: [call("p0", "pay")],
  PAYS: [call("p0", "pay"), call("p1", "pay")],
  WHERE: [call("w0", "where")],
  WHERES: [call("w0", "where"), call("w1", "where")],
  BOTH: [call("p0", "pay"), call("w0", "where")]
}

/** A model that hangs, or calls tools, as the newest message of the person says. */
const model = () =>
  Fake.make({
    respond: ({ messages }, index) => {
      const said = messages.findLast(({ role }) => role === "user")
      const text = said === undefined ? "" : Message.text(said)
      if (text === "HANG") return [{ text: "Once" }, { hang: true }]
      const called = messages.at(-1)?.role === "tool" ? undefined : calls[text]
      return called === undefined
        ? [{ text: `a${index + 1}` }, { finish: "stop" }]
        : [...called, { finish: "tool_calls" }]
    }
  })

const tools = [
  tool({ name: "pay", execute: () => "paid" }),
  tool({ name: "where", manual: true }),
  tool({ name: "asks", execute: () => askUser("Which?") })
]

/** A server with one conversation, and the client's last response. */
interface Stage {
  readonly ask: Ask
  readonly requests: () => number
  readonly troupe: () => RunningTroupe
  readonly restart: () => Promise<void>
  readonly leave: () => Promise<void>
  readonly responses: Array<string>
  reader: ReturnType<typeof readerOf>
}

const staged = async (): Promise<Stage> => {
  const adapter = model()
  const options = {
    adapter,
    tools,
    store: Store.memory(),
    permissions: {
      ask: ({ toolCall: { name } }: { readonly toolCall: { readonly name: string } }) =>
        name === "pay" ? ("suspend" as const) : ({ type: "allow" } as const)
    }
  }
  const begin = async () => {
    const troupe = await Troupe.start(options)
    const authorize = () => ({ owner: "anna", may: { approve: true } })
    const server = Server.make({ troupe, authorize, limits: { requestsPerMinute: 1e6 } })
    return { troupe, server }
  }
  let now = await begin()
  const end = async () => {
    await now.server.close()
    await now.troupe.stop()
  }
  onTestFinished(end)
  const stage: Stage = {
    ask: (method, path, body, headers = {}) =>
      now.server.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) })
        })
      ),
    requests: () => adapter.requests.length,
    troupe: () => now.troupe,
    restart: async () => {
      await end()
      now = await begin()
    },
    leave: async () => {
      await stage.reader?.cancel()
    },
    responses: [],
    reader: undefined
  }
  return stage
}

const readerOf = ({ body }: Response) => body?.getReader()

const contextOf = async (stage: Stage) => {
  if (!(await stage.troupe().has("anna/c"))) return undefined
  return (await stage.troupe().chat("anna/c")).getSnapshot()?.context
}

/** Reads a stream to its end, to the hanging model's text, or, with `queues`, until its message is in the inbox. */
const read = async (stage: Stage, response: Response, queues = true): Promise<string> => {
  const reader = readerOf(response)
  stage.reader = reader
  const chat = (await stage.troupe().has("anna/c")) ? await stage.troupe().chat("anna/c") : undefined
  const decoder = new TextDecoder()
  let text = ""
  let next = reader?.read()
  const isQueued = () => queues && chat?.getSnapshot()?.context.inbox.length === 1
  while (!text.includes("Once") && !isQueued()) {
    const came = await Promise.race([next, turn()])
    if (came === undefined) continue
    if (came.done) return text
    text += decoder.decode(came.value, { stream: true })
    next = reader?.read()
  }
  return text
}

/** Says something, as a client of the protocol. */
const say = async (stage: Stage, column: Column, history: ReadonlyArray<Past>, id: string, text: string) => {
  const post: Post = { history, said: { id, text }, previous: stage.responses.at(-1) }
  const response = await clients[column].post(stage.ask, post)
  if (response === undefined) throw new Error("each protocol has messages")
  const answer = await read(stage, response)
  const id_ = /"id":"(?<id>resp_[\w-]+)"/u.exec(answer)?.groups?.["id"]
  if (id_ !== undefined) stage.responses.push(id_)
}

const idleStart: ReadonlyArray<Past> = [["u1", "one"], ["u1.reply"]]

/** The situations. Each returns the client's history. */
const situations = {
  none: async () => [],
  idle: async (stage: Stage, column: Column) => {
    await say(stage, column, [], "u1", "one")
    await say(stage, column, idleStart, "u2", "two")
    return [...idleStart, ["u2", "two"], ["u2.reply"]]
  },
  running: async (stage: Stage, column: Column) => {
    await say(stage, column, [], "u1", "HANG")
    return [["u1", "HANG"]]
  },
  left: async (stage: Stage, column: Column) => {
    await say(stage, column, [], "u1", "HANG")
    await stage.leave()
    return [["u1", "HANG"]]
  },
  interrupted: async (stage: Stage, column: Column) => {
    await say(stage, column, [], "u1", "HANG")
    await stage.restart()
    const chat = await stage.troupe().chat("anna/c")
    await until(() => chat.getSnapshot()?.context.phase === "interrupted")
    return [["u1", "HANG"], ["u1.reply"]]
  },
  ...Object.fromEntries(
    Object.entries({
      question: "ASK",
      approval: "PAY",
      "two approvals": "PAYS",
      call: "WHERE",
      "two calls": "WHERES",
      "approval and call": "BOTH"
    }).map(([name, text]) => [
      name,
      async (stage: Stage, column: Column) => {
        await say(stage, column, [], "u1", text)
        return [["u1", text], ["u1.reply"]]
      }
    ])
  )
} as Readonly<Record<string, (stage: Stage, column: Column) => Promise<ReadonlyArray<Past>>>>

/** What a client posts in a situation; `again` posts the same twice, `before` posts something else first. */
interface Row {
  readonly where: string
  readonly what: string
  readonly post: "look" | ((history: ReadonlyArray<Past>) => Omit<Post, "previous">)
  readonly again?: true | ((history: ReadonlyArray<Past>) => Omit<Post, "previous">)
  readonly before?: (history: ReadonlyArray<Past>) => Omit<Post, "previous">
  /** Which earlier response the post names, from the newest; 0 is none. */
  readonly previous?: number
}

const row = (where: string, what: string, post: Row["post"], more: Partial<Row> = {}): Row => ({
  where,
  what,
  post,
  ...more
})

const said = (id: string, text: string, edits = false) => ({ said: { id, text, edits } })

const failure = new Error("no GPS")

const rows: ReadonlyArray<Row> = [
  row("none", "a message", () => ({ history: [], ...said("u1", "one") })),
  row("none", "results", (history) => ({ history, given: { results: { w0: "x" } } })),
  row("none", "decisions", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("none", "results, then a message", (history) => ({
    history,
    given: { results: { w0: "x" } },
    ...said("u1", "one")
  })),
  row("none", "a message, and another one of a second page at once", () => ({ history: [], ...said("u1", "one") }), {
    again: () => ({ history: [], ...said("u9", "nine") })
  }),
  row("none", "another answer", (history) => ({ history, other: {} })),

  row("idle", "a new message", (history) => ({ history, ...said("u3", "three") })),
  row("idle", "the newest message again", (history) => ({ history: history.slice(0, 2), ...said("u2", "two") })),
  row("idle", "another text under the newest id", (history) => ({
    history: history.slice(0, 2),
    ...said("u2", "TWO")
  })),
  row("idle", "an edit of the newest message", (history) => ({
    history: history.slice(0, 2),
    ...said("u2", "TWO", true)
  })),
  row("idle", "an earlier message again", () => ({ history: [], ...said("u1", "one") })),
  row("idle", "another text under an earlier id", () => ({ history: [], ...said("u1", "ONE") })),
  row("idle", "an edit of an earlier message", () => ({ history: [], ...said("u1", "ONE", true) })),
  row(
    "idle",
    "a new message behind a shorter history",
    (history) => ({ history: history.slice(0, 2), ...said("u3", "three") }),
    { previous: 2 }
  ),
  row("idle", "a new message behind no history", () => ({ history: [], ...said("u3", "three") }), { previous: 0 }),
  row(
    "idle",
    "a new message behind an unknown history",
    () => ({ history: [["x1", "other"], ["x1.reply"]], ...said("u3", "three") }),
    { previous: 0 }
  ),
  row("idle", "two new messages", (history) => ({ history, unsent: ["u3", "three"], ...said("u4", "four") })),
  row("idle", "another answer", (history) => ({ history: history.slice(0, 3), other: {} })),
  row("idle", "another answer, behind the whole history", (history) => ({ history, other: {} })),
  row("idle", "another answer to an earlier message", (history) => ({
    history: history.slice(0, 1),
    other: { isEarlier: true }
  })),
  row("idle", "another answer to an earlier message, named", (history) => ({
    history: history.slice(0, 1),
    other: { isEarlier: true, named: true }
  })),
  row("idle", "results that nothing waited for", (history) => ({ history, given: { results: { w0: "x" } } })),
  row("idle", "decisions that nothing waited for", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("idle", "a look", "look"),

  row("running", "a look", "look"),
  row("running", "a new message", (history) => ({ history, ...said("u2", "two") })),
  row("running", "the same message again", () => ({ history: [], ...said("u1", "HANG") })),
  row("running", "another text under its id", () => ({ history: [], ...said("u1", "other") })),
  row("running", "a new message behind no history", () => ({ history: [], ...said("u2", "two") }), { previous: 0 }),
  row("running", "another answer", (history) => ({ history, other: {} })),
  row("running", "results", (history) => ({ history, given: { results: { w0: "x" } } })),
  row("running", "decisions", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("left", "a new message", (history) => ({ history, ...said("u2", "two") })),

  row("question", "its answer", (history) => ({ history, given: { text: ["q0", "Blue"] } })),
  row("question", "a new message", (history) => ({ history, ...said("u2", "Blue") })),
  row("question", "the answer of another question", (history) => ({ history, given: { text: ["zz", "Blue"] } })),
  row("question", "its answer twice at once", (history) => ({ history, given: { text: ["q0", "Blue"] } }), {
    again: true
  }),
  row("question", "a new message twice at once", (history) => ({ history, ...said("u2", "Blue") }), { again: true }),
  row("question", "a look", "look"),

  row("approval", "allow", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("approval", "deny", (history) => ({ history, given: { decisions: { p0: false } } })),
  row("approval", "a decision about another call", (history) => ({ history, given: { decisions: { zz: true } } })),
  row("two approvals", "one decision", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("two approvals", "both decisions", (history) => ({ history, given: { decisions: { p0: true, p1: false } } })),
  row("approval", "a new message", (history) => ({ history, ...said("u2", "never mind") })),
  row("approval", "a decision, then a message", (history) => ({
    history: history.slice(0, 1),
    given: { decisions: { p0: true } },
    ...said("u2", "and then")
  })),
  row("approval", "another answer", (history) => ({ history: history.slice(0, 1), other: {} })),
  row("approval", "a new message behind no history", () => ({ history: [], ...said("u2", "never mind") })),
  row("approval", "an edit of the message before", () => ({ history: [], ...said("u1", "one", true) })),
  row("approval", "the same message again", () => ({ history: [], ...said("u1", "PAY") })),
  row("approval", "a look", "look"),
  row(
    "approval",
    "the decision again, when it was used",
    (history) => ({ history, given: { decisions: { p0: false } } }),
    {
      before: (history) => ({ history, given: { decisions: { p0: true } } })
    }
  ),

  row("call", "its result", (history) => ({ history, given: { results: { w0: "Oslo" } } })),
  row("call", "its failure", (history) => ({ history, given: { results: { w0: failure } } })),
  row("call", "the result of another call", (history) => ({ history, given: { results: { zz: "Oslo" } } })),
  row("two calls", "one result", (history) => ({ history, given: { results: { w0: "Oslo" } } })),
  row("two calls", "both results", (history) => ({ history, given: { results: { w0: "Oslo", w1: "Rome" } } })),
  row("two calls", "both results and an unknown one", (history) => ({
    history,
    given: { results: { w0: "Oslo", w1: "Rome", zz: "x" } }
  })),
  row("call", "a new message", (history) => ({ history, ...said("u2", "never mind") })),
  row("call", "its result, then a message", (history) => ({
    history: history.slice(0, 1),
    given: { results: { w0: "Oslo" } },
    ...said("u2", "and then")
  })),
  row("call", "its failure, then a message", (history) => ({
    history: history.slice(0, 1),
    given: { results: { w0: failure } },
    ...said("u2", "and then")
  })),
  row("call", "another answer", (history) => ({ history: history.slice(0, 1), other: {} })),
  row("call", "the same message again", () => ({ history: [], ...said("u1", "WHERE") })),
  row("call", "its result again, when it was used", (history) => ({ history, given: { results: { w0: "Rome" } } }), {
    before: (history) => ({ history, given: { results: { w0: "Oslo" } } })
  }),
  row("approval and call", "the result", (history) => ({ history, given: { results: { w0: "Oslo" } } })),
  row("approval and call", "the decision", (history) => ({ history, given: { decisions: { p0: true } } })),
  row("approval and call", "both", (history) => ({
    history,
    given: { decisions: { p0: true }, results: { w0: "Oslo" } }
  })),
  row("approval and call", "both, then a message", (history) => ({
    history: history.slice(0, 1),
    given: { decisions: { p0: true }, results: { w0: "Oslo" } },
    ...said("u2", "and then")
  })),

  row("interrupted", "a new message", (history) => ({ history, ...said("u2", "two") })),
  row("interrupted", "the same message again", () => ({ history: [], ...said("u1", "HANG") })),
  row("interrupted", "another answer", (history) => ({ history: history.slice(0, 1), other: {} })),
  row("interrupted", "a look", "look")
]

/** The state of the conversation in a few words. */
interface State {
  readonly messages: ReadonlyArray<string>
  readonly inbox: number
  readonly approvals: number
  readonly requests: number
  readonly chats: number
  readonly exists: boolean
}

const stateOf = async (stage: Stage): Promise<State> => {
  const context = await contextOf(stage)
  const { chats } = await stage.troupe().list({ limit: 10 })
  return {
    messages: (context?.thread.messages ?? []).map((message) =>
      message.role === "tool"
        ? `tool ${message.toolCallId} ${Message.text(message)}`
        : `${message.role} ${message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id).join() : ""}${Message.text(message)}`
    ),
    inbox: context?.inbox.length ?? 0,
    approvals: context?.pendingApprovals.length ?? 0,
    requests: stage.requests(),
    chats: chats.length,
    exists: context !== undefined
  }
}

/** What a post did. */
const effect = (where: string, before: State, after: State): string => {
  const kept = before.messages.findIndex((message, index) => message !== after.messages[index])
  const from = kept === -1 ? before.messages.length : kept
  const [gone, added] = [before.messages.slice(from), after.messages.slice(from)]
  const results = added.filter((one) => one.startsWith("tool ") && !one.startsWith("tool q"))
  const users = added.filter((one) => one.startsWith("user"))
  const isOther = users.length === 0 && results.length === 0 && after.requests > before.requests
  return [
    after.chats > before.chats && before.chats > 0 && "fork",
    after.exists && !before.exists && after.messages.length === 0 && "an empty conversation",
    gone.some((one) => one.startsWith("user")) && "rewind",
    (where === "running" || where === "left") && after.requests > before.requests && "interrupt",
    (results.some((one) => !one.includes("another message")) ||
      (where !== "idle" && gone.length === 0 && after.approvals < before.approvals)) &&
      "answer",
    results.some((one) => one.includes("another message")) && "cancel calls",
    after.inbox > before.inbox && "queue",
    users.length > 0 && (users.length > 1 ? "send twice" : "send"),
    users.some((one) => one.includes("three") && one.includes("four")) && "both",
    isOther && (after.chats === before.chats ? "another answer" : "send")
  ]
    .filter((word) => word !== false)
    .join(", ")
}

const refusalOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } }
  return `${response.status} ${error.code}`
}

/** The effect of a row, in a protocol. */
const cellOf = async ({ where, what, post, again, before, previous }: Row, column: Column): Promise<string> => {
  const stage = await staged()
  const client = clients[column]
  const history = (await situations[where]?.(stage, column)) ?? []
  const last = previous === 0 ? undefined : stage.responses.at(-(previous ?? 1))
  if (before !== undefined) {
    const earlier = await client.post(stage.ask, { ...before(history), previous: last })
    if (earlier !== undefined) await read(stage, earlier)
  }
  const from = await stateOf(stage)
  const ask = (posted: Row["post"]) =>
    posted === "look" ? client.look(stage.ask, last) : client.post(stage.ask, { ...posted(history), previous: last })
  const asked = ask(post)
  // It is answered when the running turn ends.
  if (column === "own" && where === "running" && what === "another answer") return "queue"
  const second = again === undefined ? undefined : ask(again === true ? post : again)
  if (asked === undefined) return "–"
  const response = await asked
  if (response.status >= 400) {
    const done = effect(where, from, await stateOf(stage))
    return [await refusalOf(response), done].filter((one) => one !== "").join(", ")
  }
  const isEndless = column === "own" && post === "look" && where !== "running"
  if (!isEndless && response.status === 200) await read(stage, response, second === undefined)
  const other = await second
  if (other?.status === 200) await read(stage, other, false)
  const twice = other === undefined || other.status === 200 ? "" : `, ${await refusalOf(other)}`
  const done = `${effect(where, from, await stateOf(stage))}${twice}`
  await stage.leave()
  if (response.status === 204) return "204"
  return done === "" ? "follow" : done
}

const page = readFileSync(new URL("../../../../docs/posts.md", import.meta.url), "utf8")

/** The cells of a row of the page. */
const listed = (where: string, what: string): ReadonlyArray<string> =>
  page
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.replaceAll("`", "").trim()))
    .find(([, first, second]) => first === where && second === what)
    ?.slice(3, -1) ?? []

describe("POST7 a post means what docs/posts.md lists", () => {
  for (const one of rows)
    it(`${one.where}: ${one.what}`, async () => {
      const cells: Array<string> = []
      for (const column of columns) cells.push(await cellOf(one, column))
      expect(cells).toEqual(listed(one.where, one.what))
    })

  it("and the page lists no other row", () => {
    const lines = page.split("\n").filter((line) => line.split("|").length === columns.length + 4)
    expect(lines).toHaveLength(rows.length + 2)
  })
})
