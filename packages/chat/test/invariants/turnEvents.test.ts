import { expect, test } from "vitest"
import { tool } from "../../src/tool/functionTool.ts"
import { endsTurn, eventsOf, isSnapshot, readUntil, wordsOf } from "../double/attached.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import type { Event } from "../../src/events/Event.ts"
import type { Attached } from "../../src/view/attachOptions.ts"
import type { Attachment } from "../../src/view/attachmentReader.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { callThenAnswer, calls, echo, readAll, says, tagsOf } from "../double/scripts.ts"
import { refusal } from "../double/refusal.ts"

const check = leakCheck()

const allOf = (reader: Attachment): Promise<ReadonlyArray<Attached>> => readUntil(reader, () => false)

const textOf = (events: ReadonlyArray<Event>): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("")

const byHand = async () => {
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  const open = async (place: number) => {
    await until(() => adapter.streams.length > place)
    const stream = adapter.streams[place]
    if (stream === undefined) throw new Error("no stream")
    return stream
  }
  return { chat, open, troupe }
}

test("TURNREAD1 a reader of a turn gets its events as its sender does, also of a turn that begins later, and then the end", async () => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [...callThenAnswer, ...callThenAnswer] }),
    tools: [echo]
  })
  const chat = await troupe.chat("c")
  const turns = [chat.send("one"), chat.send("two")]
  const readers = turns.map((turn) => ({ turn, reader: chat.attach({ turn }) }))
  for (const one of readers) {
    const [sent, items] = await Promise.all([readAll(one.turn), allOf(one.reader)])
    expect(items.map(({ type }) => type)).not.toContain("snapshot")
    expect(eventsOf(items)).toEqual(sent)
  }
})

test("TURNREAD1 a reader that comes in the middle of the turn gets its first event", async () => {
  const { chat, open } = await byHand()
  const turn = chat.send("go")
  const early = chat.attach({ turn })
  const stream = await open(0)
  stream.text("one")
  await readUntil(early, (item) => item.type === "event" && item.event.type === "text_delta")
  const late = chat.attach({ turn })
  stream.finish("stop")
  expect(tagsOf(eventsOf(await allOf(late)))).toEqual([
    "text_delta",
    "message_completed",
    "step_completed",
    "chat_completed"
  ])
  await early.return()
})

test("TURNREAD1 when the input joins another turn, its reader gets the events of that turn from there on", async () => {
  const { chat, open } = await byHand()
  const turn = chat.send("go")
  const one = await open(0)
  const reader = chat.attach({ turn: chat.send("and?", { whenBusy: "steer" }) })
  const reading = allOf(reader)
  one.text("one")
  one.finish("stop")
  const two = await open(1)
  two.text("two")
  two.finish("stop")
  expect(textOf(eventsOf(await reading))).toBe("two")
  await turn.result()
})

test("TURNREAD2 a reader that comes after the turn gets a snapshot, and then the end", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("one"), says("two")] }) })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await turn.result()
  await chat.send("go").result()
  expect(wordsOf(await allOf(chat.attach({ turn })))).toEqual(["snapshot"])
})

test("TURNREAD2 the reader of a turn that fails gets its events, and rejects with its error", async () => {
  const { chat, open } = await byHand()
  const reader = chat.attach({ turn: chat.send("go") })
  const next = chat.send("next")
  const waiting = chat.attach({ turn: next })
  const stream = await open(0)
  stream.text("one")
  await readUntil(reader, (item) => item.type === "event" && item.event.type === "text_delta")
  const read = waiting.next()
  await chat.withdraw(next)
  expect(await refusal(() => read)).toMatchObject({ reason: "withdrawn" })
  await chat.stop()
  expect(await refusal(() => reader.next())).toMatchObject({ reason: "chat_stopped" })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test("TURNREAD3 a reader whose turn begins to wait for a decision gets one snapshot, and later its events", async () => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [calls("echo"), says("done"), says("second")] }),
    tools: [echo],
    permissions: { ask: () => "suspend" }
  })
  const chat = await troupe.chat("c")
  chat.send("go")
  const reader = chat.attach({ turn: chat.send("second") })
  const [snapshot] = await readUntil(reader, isSnapshot)
  expect(snapshot).toMatchObject({ snapshot: { context: { phase: "awaitingApproval" } } })
  chat.approve("c0", { type: "allow" })
  const items = await readUntil(reader, endsTurn)
  expect(wordsOf(items)).not.toContain("snapshot")
  expect(eventsOf(items).at(-1)).toMatchObject({ result: { finalResponse: { outputText: "second" } } })
})

test("TURNREAD4 a reader that does not read keeps the events of its turn from the first one, and one that leaves has no subscription", async () => {
  const { chat, open } = await byHand()
  chat.send("go")
  const idle = chat.attach({ turn: chat.send("next") })
  const left = chat.attach({ turn: chat.send("last") })
  const stream = await open(0)
  const read = left.next()
  await left.return()
  expect(await read).toEqual({ done: true, value: undefined })
  stream.finish("stop")
  const second = await open(1)
  second.finish("stop")
  await hop()
  await idle.return()
})

test("TURNREAD4 a reader of a withdrawn turn that never reads does not keep its chat in memory", async () => {
  const adapter = handAdapter()
  const { troupe, clock } = await check.troupe({ adapter, passivateAfterMs: 1_000 })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  const next = chat.send("next")
  const reader = chat.attach({ turn: next, calls: true })
  await until(() => adapter.streams.length === 1)
  await chat.withdraw(next)
  await expect(next.result()).rejects.toMatchObject({ reason: "withdrawn" })
  adapter.streams[0]?.finish("stop")
  await turn.result()
  await clock.advance(1_250)
  expect(chat.pid).toBeUndefined()
  await expect(reader.next()).rejects.toMatchObject({ reason: "withdrawn" })
})

test("ATT5 a reader with `calls` gets the states of calls after the events of the calls", async () => {
  const ends: Array<() => void> = []
  const slow = tool({
    name: "echo",
    execute: (_, { progress }) => new Promise((resolve) => ends.push(() => (progress(1), resolve("ok"))))
  })
  const { troupe, clock } = await check.troupe({ adapter: check.fake({ scripts: callThenAnswer }), tools: [slow] })
  const chat = await troupe.chat("c")
  const reader = chat.attach({ turn: chat.send("go"), calls: true })
  const words: Array<string> = []
  const reading = (async () => {
    for await (const item of reader)
      words.push(item.type === "event" ? item.event.type : item.type === "call" ? item.call.status : item.type)
  })()
  await until(() => ends.length === 1)
  await clock.advance(200)
  ends[0]?.()
  await reading
  expect(words.filter((word) => word === "running")).toEqual(["running"])
  expect(words.indexOf("running")).toBeGreaterThan(words.indexOf("message_completed"))
})

test("TURNREAD1 attach refuses a value that is no turn, and a turn of another chat", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("one"), says("two")] }) })
  const [chat, other] = [await troupe.chat("c"), await troupe.chat("other")]
  const turn = other.send("go")
  await turn.result()
  for (const wrong of ["c" as never, { id: turn.id, over: true } as never, turn]) {
    expect(await refusal(() => chat.attach({ turn: wrong }))).toMatchObject({
      errors: [{ field: ["turn"], reason: "must_be_a_turn that send of this chat returned" }]
    })
  }
  await chat.send("go").result()
  const kept = chat.send("again")
  await kept.result().catch(() => {})
  await chat.stop()
  expect(wordsOf(await allOf((await troupe.chat("c")).attach({ turn: kept })))).toEqual(["snapshot"])
})
