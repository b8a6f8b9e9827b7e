import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { user } from "@troupe/chat"
import { Message, Usage } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type PostgresAddress, workerPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { queries } from "../../../packages/store/test/double/queries.ts"
import { TcpProxy } from "../../../packages/store/test/double/TcpProxy.ts"
import { root } from "../../house/workspace.ts"
import { checked, type World } from "../../lab/check/checker.ts"
import { Counts, wrongLate, wrongLeft, wrongRepeat, wrongZombies } from "../../lab/check/counts.ts"
import { type Event, type Line, type NodeEvent, type NodeFact, ofType } from "../../lab/check/history.ts"
import type { Entry, Kept } from "../../lab/check/kept.ts"
import { wrongRevivals } from "../../lab/check/trees.ts"
import { faultOf, wrongAnswer, wrongMessages } from "../../lab/fuzz/fuzz.ts"
import { crash, damage } from "../../lab/killed/crash.ts"
import { wrongStreaming } from "../../lab/load/scenarios.ts"
import { changes } from "../../lab/nodes/builds.ts"
import { fleetOf } from "../../lab/nodes/fleet.ts"
import { answerTo } from "../../lab/workload.ts"

const calling = (...ids: ReadonlyArray<string>) =>
  Message.assistant(
    "",
    ids.map((id) => ({ id, name: "note", arguments: {}, rawArguments: "{}" }))
  )

const ran = (toolCallId: string, content = "noted") =>
  ({ role: "tool", toolCallId, content, outcome: "completed" }) as const

const recordOf = (id: string, more: Partial<Conversation> = {}): Conversation => ({
  id,
  thread: { messages: [user("one"), calling("note"), ran("note"), Message.assistant(answerTo("one"))] },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  version: 2,
  ...more
})

const extended = (record: Conversation, ...messages: Conversation["thread"]["messages"]): Conversation => ({
  ...record,
  thread: { messages: [...record.thread.messages, ...messages] }
})

const logOf = (...epochs: ReadonlyArray<number | undefined>): ReadonlyArray<Entry> =>
  epochs.map((epoch, at) => ({ seq: at + 1, epoch, writer: `w${epoch}` }))

const keptOf = (...records: ReadonlyArray<Conversation>): Kept => ({
  records: new Map(records.map((record) => [record.id, record])),
  logs: new Map(records.map(({ id }) => [id, logOf(1, 1)]))
})

/** The events, a second apart. */
const linesOf = (...events: ReadonlyArray<Event>): ReadonlyArray<Line> =>
  events.map((event, index) => ({ at: 1_000 * index, ...event }))

const folder = mkdtempSync(join(tmpdir(), "troupe-lab-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const chat = "c"
const sent = (text: string): Event => ({ type: "sent", chat, text, outcome: "pending" })
const answered = (text: string): Event => ({ type: "answered", chat, id: text, text: answerTo(text) })
const call = (name: string, key = name): Event => ({ type: "call", key, call: name, node: "n" })
const node = (event: NodeEvent, more: Partial<NodeFact> = {}): Event => ({ type: "node", node: "n", event, ...more })
const clean: ReadonlyArray<Event> = [
  node("kill"),
  { type: "send", chat, id: "one", text: "one" },
  sent("one"),
  call("note"),
  { type: "read", chat, from: 0, texts: ["one", "not stored"], partial: "not" },
  { type: "read", chat, from: 1, texts: ["", "noted", answerTo("one")], partial: "The ans" },
  answered("one")
]
const one = recordOf(chat)
const child = recordOf("c/~/1", { parent: { chat, call: "note", depth: 1 }, thread: { messages: [] } })

/** The faults of the clean history with more facts, on a store. */
const seen = (more: ReadonlyArray<Event>, kept: Kept = keptOf(one), world: World = { leaseMs: 1_000 }) =>
  checked(linesOf(...clean, ...more), kept, world)

test("LAB29. LAB30. a message that was refused may be missing, and so may an answer that no agent gave", () => {
  const left = { id: "tell", name: "tell", arguments: { to: "aide-1", message: "left" }, rawArguments: "{}" }
  const refused = ran("tell", '{"receipt":"refused","to":"aide-1","reason":"deleted"}')
  expect(seen([], keptOf(extended(one, Message.assistant("", [left]), refused)), { isOver: true })).toEqual([])
})

test("the checker finds nothing in a history that the store has", () => {
  expect(seen([])).toEqual([])
  expect(seen([], keptOf(one, child), { isOver: true })).toEqual([])
})

test("LAB11: a reader may have more of an interrupted reply than its draft", () => {
  const draft = { ...Message.assistant("So you"), metadata: { interrupted: true } }
  const read = { type: "read", chat, from: 4, texts: ["So you"], partial: "So you say" } as const
  expect(seen([read], keptOf(extended(one, draft)))).toEqual([])
  expect(seen([read], keptOf(extended(one, Message.assistant("So you"))))).toHaveLength(1)
})

describe("a planted fault is found by the checker", () => {
  const log = (entries: ReadonlyArray<Entry>): Kept => ({ ...keptOf(one), logs: new Map([[chat, entries]]) })
  const survey = [calling("survey"), ran("survey", '{"task":"t1","status":"running"}')]
  const ends = ["t1 (a)", "t1 (b)"].map((task) => user(`The background task ${task}`))
  const other = { other: "PostgreSQL" }
  const cut = [node("cut", other), answered("one"), call("late"), node("healed", other), answered("one")]
  const unstored = { type: "read", chat, from: 3, texts: ["another", "more"], partial: "none" } as const
  const isOver = { isOver: true }
  const sends = (name: "tell" | "ask", result: string): Conversation =>
    extended(
      one,
      Message.assistant("", [{ id: name, name, arguments: { to: "aide-1", message: "left" }, rawArguments: "{}" }]),
      ran(name, result)
    )
  const aide = (...messages: Conversation["thread"]["messages"]): Conversation =>
    recordOf("c/~/aide-1", { parent: { chat, call: "note", depth: 1 }, thread: { messages } })
  const mail = user("The agent that called you (parent) says:\nleft")
  const pending = sends("tell", '{"receipt":"pending","to":"aide-1"}')
  const asks = sends("ask", '{"error":"child_failed: the agent aide-1 ended without an answer"}')
  const faults: ReadonlyArray<readonly [expected: string, found: ReadonlyArray<string>]> = [
    ['LAB1: "two" is not in c', seen([sent("two")])],
    ['LAB1: "two" is more than once in c', seen([], keptOf(extended(one, user("two"), user("two"))), {})],
    ['LAB1: "one" is not in c', seen([], keptOf(), {}).slice(0, 1)],
    ['LAB2: "two" is not in c', seen([answered("two")])],
    [
      'LAB2: the answer to "one" is more than once in c',
      seen([], keptOf(extended(one, Message.assistant(answerTo("one"))))).slice(0, 1)
    ],
    ["LAB3: the log of c has 1 entries instead of 2", seen([], log(logOf(1)))],
    ["LAB3: the entry 1 of c is no record", seen([], log([{ seq: 1, isRecord: false }, { seq: 2 }]), {})],
    ["LAB3: the entry 2 of c has the epoch 1 after 2", seen([], log(logOf(2, 1)))],
    ["LAB3: the entry 1 of c has no epoch", seen([], log([...logOf(undefined), { seq: 2, epoch: 1 }]))],
    [
      "LAB3: the entry 2 of c has a second writer in the epoch 1",
      seen([], log([...logOf(1), { seq: 2, epoch: 1, writer: "other" }]))
    ],
    [
      'LAB4: the call with the key note began more than once; LAB4: the call "note" began more than once',
      seen([call("note")])
    ],
    ['LAB4: "lost" began, and is not stored', seen([call("lost")])],
    ["LAB5: open of c has no result", seen([], keptOf(extended(one, calling("open"))), {})],
    ["LAB5: note of c has a result without a call, or a second one", seen([], keptOf(extended(one, ran("note"))), {})],
    ['LAB6: the call "note" of c has more than one sub-agent', seen([], keptOf(one, child, { ...child, id: "c/~/2" }))],
    [
      'LAB6: c/~/1 has no owner: c has no call "lost"',
      seen([], keptOf(one, { ...child, parent: { chat, call: "lost", depth: 1 } }))
    ],
    ["LAB8: there is no c/1", seen([{ type: "forked", chat, to: "c/1" }])],
    [
      "LAB9: the allowed call dig has the result nothing",
      seen([{ type: "allowed", chat, call: "dig" }], keptOf(one), isOver)
    ],
    ["LAB9: the turn of c is not over", seen([], keptOf({ ...one, running: true }), isOver)],
    ["LAB10: the end of the task t1 is 0 times in c", seen([], keptOf(extended(one, ...survey)), isOver)],
    ["LAB10: the end of the task t1 is 2 times in c", seen([], keptOf(extended(one, ...survey, ...ends)), {})],
    [
      'LAB11: a reader of c has "none", which no message begins with; LAB11: a reader of c has another message 3; LAB11: a reader of c has more than is stored',
      seen([unstored])
    ],
    ["LAB12: two has no answer", seen([{ type: "send", chat, id: "two", text: "two" }])],
    ["LAB12: c answered Infinity ms after the last fault", seen([node("kill")])],
    ["LAB13: n ended: 1", seen([node("ended", { detail: "1" })])],
    [
      "LAB13: n is refused: protocol_mismatch",
      seen([node("started"), node("refused", { detail: "protocol_mismatch" }), answered("one")])
    ],
    ["LAB14: n is ready", seen([node("started", { detail: "other" }), node("ready"), answered("one")])],
    [
      'LAB15: "late" began on n, which was cut from PostgreSQL',
      seen(cut, keptOf(extended(one, calling("late"), ran("late")))).filter((what) => what.startsWith("LAB15"))
    ],
    ["LAB19: 2 timers are left", wrongLeft({ fibers: 0, timers: 2 })],
    [
      'LAB29: "left" is 0 times in c/~/aide-1',
      seen([], keptOf(pending, aide())).filter((what) => what.startsWith("LAB29"))
    ],
    [
      'LAB29: "left" is 2 times in c/~/aide-1',
      seen([], keptOf(pending, aide(mail, mail))).filter((what) => what.startsWith("LAB29"))
    ],
    [
      'LAB30: the answer to "left" is lost: {"error":"child_failed: the agent aide-1 ended without an answer"}',
      seen([], keptOf(asks, aide(user("left"), Message.assistant("The answer to left."))), isOver)
    ]
  ]
  test.each(faults)("%s", (expected, found) => {
    expect(found.join("; ")).toBe(expected)
  })

  test("LAB7: when a conversation is loaded in another phase, or with another reply", () => {
    const revived = { type: "revived", chat, phase: "idle", partial: "" } as const
    const kept = keptOf({ ...one, running: true, draft: "So" })
    expect(wrongRevivals(linesOf({ ...revived, phase: "interrupted", partial: "So" }), kept)).toEqual([])
    expect(wrongRevivals(linesOf(revived, { ...revived, phase: "interrupted" }), kept)).toEqual([
      "LAB7: c is idle instead of interrupted",
      'LAB7: the reply of c is "" instead of "So"'
    ])
  })

  test("LAB17: when a row of the database belongs to nothing", () => {
    const path = join(folder, "damaged.db")
    const file = new DatabaseSync(path, { enableForeignKeyConstraints: false })
    file.exec("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a (id))")
    expect(damage(path)).toEqual([])
    file.exec("INSERT INTO b VALUES (1)")
    file.close()
    expect(damage(path)).toEqual(["LAB17: a row of b belongs to nothing"])
  })

  test("LAB24: when an answer is no refusal, is not typed, shows internals, or does not end", () => {
    const typed = JSON.stringify({ error: { code: "invalid_input", message: "no" } })
    const stream = { headers: { "content-type": "text/event-stream" } }
    const found = [
      faultOf("/ag-ui", new Response("", { status: 400 }), typed),
      faultOf("/ag-ui", new Response("", { status: 400 }), "no"),
      faultOf("/ag-ui", new Response("", { status: 500 }), typed),
      faultOf("/ag-ui", new Response(""), "\n    at run (file.ts:1:2)"),
      faultOf("/ag-ui", new Response("", stream), "data: {}\n\n"),
      faultOf("/v1/models", new Response(""), "no")
    ]
    expect(found).toEqual([
      undefined,
      "is not typed",
      "is no refusal",
      "shows internals",
      "does not end",
      "is not JSON"
    ])
  })

  test("LAB26. LAB27: when a stream gets few words, or the heap of the server grows", () => {
    const figures = { "least share of a stream (%)": 100, "heap, later to earlier half": 1 }
    const bare = figures as Parameters<typeof wrongStreaming>[0]
    expect(wrongStreaming(bare, bare)).toEqual([])
    const own = { ...bare, "least share of a stream (%)": 50, "heap, later to earlier half": 1.5 }
    expect(wrongStreaming(bare, own)).toEqual([
      "LAB26: a stream got 50 % of its words",
      "LAB27: the heap has grown to 1.50 times its size"
    ])
  })

  test("LAB20: when a handler that outlived its call is not listed, not aborted, or is forgotten", () => {
    expect([...wrongZombies(2, 2, 2), ...wrongLate(1, 1, 2)]).toEqual([])
    expect([...wrongZombies(2, 1, 2), ...wrongZombies(2, 2, 1), ...wrongLate(1, 0, 2)]).toEqual([
      "LAB20: of 2 handlers that outlived their calls 1 are listed and 2 aborted",
      "LAB20: of 2 handlers that outlived their calls 2 are listed and 1 aborted",
      "LAB20: 1 zombies came late and 0 are listed, of 2"
    ])
  })

  test("LAB22: when a run of the same seed has other counts", () => {
    const [first, again] = [new Counts(), new Counts()]
    for (const counts of [first, again]) counts.add("turns", 3)
    expect(wrongRepeat(first, again)).toEqual([])
    again.add("turns")
    again.add("kills")
    expect(wrongRepeat(first, again)).toEqual([
      "LAB22: 4 turns at the second time, instead of 3",
      "LAB22: 1 kills at the second time, instead of 0"
    ])
  })

  test("LAB25: when another conversation has changed, or a protocol does not answer as before", () => {
    expect([...wrongAnswer("/ag-ui", "200 Hello"), ...wrongMessages("[1]", "[1]")]).toEqual([])
    expect([
      ...wrongAnswer("/ag-ui", "503 Hello"),
      ...wrongAnswer("/ag-ui", "200 data: [DONE]"),
      ...wrongMessages("[1]", "[]")
    ]).toEqual([
      "LAB25: /ag-ui answers 503 Hello",
      "LAB25: /ag-ui answers 200 data: [DONE]",
      "LAB25: the conversation that no request names has changed to []"
    ])
  })

  test("LAB18: when something that was begun is not over", async () => {
    const counts = new Counts()
    counts.begin("turns")
    await counts.during("streams", () => Promise.resolve())
    expect(counts.wrong).toEqual(["LAB18: of 1 turns 0 are over"])
  })
})

test("LAB12: the time for which the machine was busy does not count", () => {
  const busy: ReadonlyArray<Event> = Array.from({ length: 6 }, () => ({ type: "delay", ms: 4_000 }))
  const late = (delays: ReadonlyArray<Event>) => seen([node("kill"), ...delays, answered("one")])
  expect(late(busy)).toEqual([])
  expect(late(busy.map(() => ({ type: "request", agent: "main" })))).toEqual([
    "LAB12: c answered 7000 ms after the last fault"
  ])
})

test("LAB13: a node that is refused while PostgreSQL is restarted is no fault", () => {
  const restart = [node("restart", { node: "PostgreSQL" }), node("refused", { detail: "database_failed" })]
  expect(seen([node("started"), ...restart, node("restarted", { node: "PostgreSQL" }), answered("one")])).toEqual([])
})

describe("LAB1. LAB2. LAB3. LAB4. LAB6. LAB9. a program that is killed at any moment", () => {
  let server: PostgresAddress
  beforeAll(async () => {
    server = await workerPostgres()
  })

  test.each<[string, () => string, number, "chats" | "trees" | "long"]>([
    ["loses and doubles nothing on SQLite", () => join(folder, "chats.db"), 2, "chats"],
    [
      "loses and doubles nothing in compacted chats, of which some are killed in a summary",
      () => join(folder, "long.db"),
      4,
      "long"
    ],
    [
      "ends every chat of its trees of agents on PostgreSQL, and leaves no child without an owner",
      () => server.url,
      1,
      "trees"
    ]
  ])("%s", { timeout: 120_000 }, async (_, database, lives, kind) => {
    const { lines, wrong } = await crash({ database: database(), lives, seed: 56, kind })
    expect(wrong).toEqual([])
    expect(ofType(lines, "sent").length).toBeGreaterThan(0)
  })
})

test("the sources have each place that another build changes", () => {
  const missing = Object.values(changes)
    .flat()
    .filter(({ file, from }) => !readFileSync(join(root, file), "utf8").includes(from))
  expect(missing).toEqual([])
})

test(
  "LAB28: a node that PostgreSQL refuses is reached by the other nodes when it is ready",
  { timeout: 120_000 },
  async () => {
    const { url } = await workerPostgres()
    await queries(url, ["CREATE DATABASE refusing"])
    const database = new URL("/refusing", url)
    const { host } = database
    const proxy = await TcpProxy.listen("127.0.0.1:1")
    database.host = proxy.address
    const events: Array<NodeEvent> = []
    const add = (event: Event): void => {
      if (event.type !== "node") return
      events.push(event.event)
      if (event.event === "refused") proxy.lead(host)
    }
    const fleet = fleetOf({ lines: [], add }, { url: database.href, stop: async () => {}, restart: undefined }, 3_000)
    try {
      await fleet.join("home")
      expect(events.filter((event) => event !== "reported")).toEqual(["started", "refused", "started", "ready"])
      const { hostname, port } = new URL(`http://${fleet.running[0]?.options.address}`)
      const socket = connect(Number(port), hostname)
      await once(socket, "connect")
      socket.destroy()
    } finally {
      fleet.close()
      proxy.close()
    }
  }
)
