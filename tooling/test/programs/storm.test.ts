import { user } from "@troupe/chat"
import { Message, Usage } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { root } from "../../house/workspace.ts"
import { changes } from "../../storm/builds.ts"
import { checked, type Kept } from "../../storm/checker.ts"
import type { Event, Line, NodeEvent, NodeLine } from "../../storm/history.ts"

const answerTo = (input: string): string => `The answer to ${input}.`

const recordOf = (id: string, inputs: ReadonlyArray<string>): Conversation => ({
  id,
  thread: { messages: inputs.flatMap((text) => [user(text), Message.assistant(answerTo(text))]) },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  version: 2
})

/** The events, a second apart. */
const linesOf = (...events: ReadonlyArray<Event>): ReadonlyArray<Line> =>
  events.map((event, index) => ({ at: 1_000 * index, ...event }))

const keptOf = (inputs: ReadonlyArray<string>, more: Partial<Kept> = {}): Kept => ({
  records: new Map([["c", recordOf("c", inputs)]]),
  ledger: [1, 2].map((seq) => ({ chat: "c", seq, writer: "w", epoch: 1 })),
  journal: [],
  children: new Map(),
  ...more
})

const sent = (name: string): ReadonlyArray<Event> => [
  { type: "send", chat: "c", id: name, text: name },
  { type: "sent", chat: "c", id: name, outcome: "pending" },
  { type: "answered", chat: "c", id: name }
]

test("the checker finds nothing in a history that the database has", () => {
  const undone = { type: "read", chat: "c", from: 0, texts: ["one", "not stored"], partial: "not" } as const
  const read = { type: "read", chat: "c", from: 1, texts: [answerTo("one")], partial: "The ans" } as const
  const lines = linesOf({ type: "node", node: "n", event: "kill" }, ...sent("one"), undone, read)
  expect(checked(lines, keptOf(["one"]), { leaseMs: 1_000 })).toEqual([])
})

test("the checker finds what is lost, doubled, read differently, late, and without an epoch of its own", () => {
  const lines = linesOf(
    ...sent("one"),
    ...sent("two"),
    { type: "send", chat: "c", id: "three", text: "three" },
    { type: "read", chat: "c", from: 1, texts: ["another", "more", "and more", "most", "the end"], partial: "other" },
    { type: "node", node: "n", event: "ended", detail: "1" },
    { type: "node", node: "n", event: "kill" }
  )
  const kept = keptOf(["one", "one"], {
    ledger: [
      { chat: "c", seq: 1, writer: "w", epoch: 2 },
      { chat: "c", seq: 3, writer: "v", epoch: 2 },
      { chat: "c", seq: 4, writer: "v", epoch: 1 },
      { chat: "c", seq: 5, writer: "v", epoch: undefined }
    ],
    journal: [1, 2].map((at) => ({ key: "k", call: "call", node: "n", at }))
  })
  expect(checked(lines, kept, { leaseMs: 1_000 })).toEqual([
    'STORM1: "one" is more than once in c',
    'STORM1: "two" is not in c',
    "STORM2: the call with the key k began more than once",
    'STORM2: the call "call" began more than once',
    'STORM2: "call" began, and is not stored',
    'STORM2: "call" began, and is not stored',
    "STORM3: the log of c has 4 entries instead of 2",
    "STORM3: the entry 3 of c has a second writer in the epoch 2",
    "STORM3: the entry 4 of c has the epoch 1 after 2",
    "STORM3: the entry 5 of c has no epoch",
    "STORM3: the entry 5 of c has the epoch -1 after 1",
    'STORM4: a reader of c has "other", which no message begins with',
    "STORM4: a reader of c has another message 0",
    "STORM4: a reader of c has more than is stored",
    'STORM5: the answer to "one" is more than once in c',
    "STORM5: the answer to two is not in c",
    "STORM6: three has no answer",
    "STORM6: c answered Infinity ms after the last fault",
    "STORM7: n ended: 1"
  ])
})

test("STORM10: the checker finds a sub-agent without a stored call, and two sub-agents of one call", () => {
  const childOf = (call: string): Conversation => ({
    ...recordOf("child", []),
    parent: { chat: "storm/c", call, depth: 1 }
  })
  const one = recordOf("c", ["one"])
  const asked = Message.assistant("", [{ id: "ask", name: "clerk", arguments: {}, rawArguments: "{}" }])
  const records = new Map([["c", { ...one, thread: { messages: [...one.thread.messages, asked] } }]])
  const children = new Map(["ask", "ask", "lost"].map((call, at) => [`c/~/${at}`, childOf(call)]))
  const wrong = checked(linesOf(...sent("one")), keptOf(["one"], { records, children }), { leaseMs: 1_000 })
  expect(wrong.filter((what) => what.startsWith("STORM10"))).toEqual([
    'STORM10: the call "c: ask" has more than one sub-agent',
    'STORM10: a sub-agent has the call "c: lost", which is not stored'
  ])
})

test("the checker does not count the time for which the machine was busy", () => {
  const busy = { type: "delay", ms: 4_000 } as const
  const late = linesOf(
    { type: "node", node: "n", event: "kill" },
    busy,
    ...Array.from({ length: 5 }, () => busy),
    ...sent("one")
  )
  const wrong = (lines: ReadonlyArray<Line>) => checked(lines, keptOf(["one"]), { leaseMs: 1_000 })
  expect(wrong(late)).toEqual([])
  expect(wrong(late.filter(({ type }) => type !== "delay"))).toEqual([
    "STORM6: c answered 9000 ms after the last fault"
  ])
})

test("the checker finds nodes that join with another protocol, are refused without a reason, and act while they are cut off", () => {
  const node = (event: NodeEvent, more: Partial<NodeLine> = {}): Event => ({ type: "node", node: "n", event, ...more })
  const lines = linesOf(
    node("started", { detail: "this" }),
    node("restart", { node: "PostgreSQL" }),
    node("refused", { detail: "database_failed" }),
    node("restarted", { node: "PostgreSQL" }),
    node("started", { detail: "other" }),
    node("refused", { detail: "protocol_mismatch" }),
    node("started", { detail: "other" }),
    node("ready"),
    node("started", { detail: "this" }),
    node("refused", { detail: "protocol_mismatch" }),
    node("cut", { other: "PostgreSQL" }),
    node("cut", { other: "m" }),
    node("healed", { other: "m" }),
    node("healed", { other: "PostgreSQL" }),
    ...sent("one")
  )
  const calls = [10_500, 12_500, 14_000].map((at) => ({ key: `k${at}`, call: "call", node: "n", at }))
  const wrong = checked(lines, keptOf(["one"], { journal: calls }), { leaseMs: 1_000 })
  expect(wrong.filter((what) => !what.startsWith("STORM2"))).toEqual([
    "STORM8: n is ready",
    "STORM7: n is refused: protocol_mismatch",
    'STORM9: "call" began on n, which was cut from PostgreSQL'
  ])
})

test("the sources have each place that another build changes", () => {
  const missing = Object.values(changes)
    .flat()
    .filter(({ file, from }) => !from.test(readFileSync(join(root, file), "utf8")))
  expect(missing).toEqual([])
})
