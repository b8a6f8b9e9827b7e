import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { Event } from "../../src/events/Event.ts"
import { maxItems, maxRun } from "../../src/view/eventLog.ts"
import { endsTurn, eventsOf, isSnapshot, readUntil, wordsOf } from "../double/attached.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { merged } from "../double/merged.ts"
import { callThenAnswer, calls, echo, readAll, says, tagsOf } from "../double/scripts.ts"
import { refusal } from "../double/refusal.ts"
import type { Attached } from "../../src/view/attachOptions.ts"

const check = leakCheck()

const long = 100_000

const byHand = async () => {
  const adapter = handAdapter()
  const made = await check.troupe({ adapter })
  const chat = await made.troupe.chat("c")
  const open = async (place: number) => {
    await until(() => adapter.streams.length > place)
    const stream = adapter.streams[place]
    if (stream === undefined) throw new Error("no stream")
    return stream
  }
  return { ...made, adapter, chat, open }
}

const textOf = (events: ReadonlyArray<Event>): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("")

const cursorOf = (item: Attached | undefined): string => {
  if (item === undefined) throw new Error("nothing was read")
  return item.cursor
}

/** Where a chat is now. */
const cursorIn = async (chat: LocalChatRef): Promise<string> => {
  for await (const { cursor } of chat.attach()) return cursor
  throw new Error("nothing was read")
}

test("ATT1 a reader gets a snapshot, then every event of every turn, in order, as its sender does", async () => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [...callThenAnswer, ...callThenAnswer] }),
    tools: [echo]
  })
  const chat = await troupe.chat("c")
  const attached = chat.attach()
  for (const said of ["one", "two"]) {
    const turn = chat.send(said)
    const [sent, items] = await Promise.all([readAll(turn), readUntil(attached, endsTurn)])
    if (said === "one") expect(items[0]).toMatchObject({ type: "snapshot", snapshot: { value: "idle" } })
    expect(eventsOf(items)).toEqual(sent)
  }
  await attached.return()
})

test("ATT1 cursors only grow, and a snapshot stands where its cursor says", async () => {
  const { chat, open } = await byHand()
  const early = chat.attach({ cursor: "turn" })
  const turn = chat.send("go")
  const stream = await open(0)
  stream.text("one ")
  await until(() => chat.getSnapshot()?.context.partial.text === "one ")
  const late = chat.attach()
  const [first] = await readUntil(late, isSnapshot)
  expect(first).toMatchObject({ snapshot: { context: { partial: { text: "one " } } } })
  stream.text("two")
  stream.finish("stop")
  const after = eventsOf(await readUntil(late, endsTurn))
  expect(textOf(after)).toBe("two")
  const all = await readUntil(early, endsTurn)
  expect(textOf(eventsOf(all))).toBe("one two")
  const places = all.map(({ cursor }) => Number(cursor.split(".")[1]))
  expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b))
  const again = await readUntil(chat.attach({ cursor: cursorOf(first) }), endsTurn)
  expect(eventsOf(again)).toEqual(after)
  await turn.result()
})

test("ATT1 a reader that comes back with its cursor misses nothing and repeats nothing, wherever it left", async () => {
  const script = [{ text: "a" }, { text: "b" }, { text: "" }, { text: "c" }, { finish: "stop" }] as const
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [calls("echo", "echo"), script] }),
    tools: [echo]
  })
  const chat = await troupe.chat("c")
  const cursor = await cursorIn(chat)
  const sent = await readAll(chat.send("go"))
  const whole = await readUntil(chat.attach({ cursor }), endsTurn)
  expect(merged(eventsOf(whole))).toEqual(merged(sent))
  for (const [place, item] of whole.slice(0, -1).entries()) {
    const rest = await readUntil(chat.attach({ cursor: item.cursor }), endsTurn)
    expect(rest).toEqual(whole.slice(place + 1))
  }
})

test("ATT1 a cursor within text that was merged since goes on exactly there", async () => {
  const { chat, open } = await byHand()
  const attached = chat.attach({ cursor: "turn" })
  const turn = chat.send("go")
  const stream = await open(0)
  const cursors: Array<readonly [string, string]> = []
  let text = ""
  for (const delta of ["Once ", "upon ", "a ", "time"]) {
    stream.text(delta)
    const [item] = (await readUntil(attached, ({ type }) => type === "event")).slice(-1)
    cursors.push([cursorOf(item), (text += delta)])
  }
  stream.finish("stop")
  await turn.result()
  for (const [cursor, before] of cursors) {
    const rest = await readUntil(chat.attach({ cursor }), endsTurn)
    expect(before + textOf(eventsOf(rest))).toBe("Once upon a time")
    expect(tagsOf(eventsOf(rest)).filter((tag) => tag === "text_delta").length).toBeLessThanOrEqual(1)
  }
})

test("ATT1 a cursor that is too old gets one snapshot first, and goes on from there", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: ["a", "b", "c"].map((said) => says(said)) }) })
  const chat = await troupe.chat("c")
  const cursor = await cursorIn(chat)
  await chat.send("one").result()
  await chat.send("two").result()
  const attached = chat.attach({ cursor })
  const turn = chat.send("three")
  const [items, sent] = await Promise.all([readUntil(attached, endsTurn), readAll(turn)])
  expect(wordsOf(items)).toEqual(["snapshot", ...tagsOf(sent)])
})

test("ATT1 every reader has a pace of its own", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] })
  const chat = await troupe.chat("c")
  const readers = [chat.attach(), chat.attach(), chat.attach()]
  const turn = chat.send("go")
  const prompt = readUntil(readers[0] ?? chat.attach(), endsTurn)
  const sent = await readAll(turn)
  for (const reader of readers.slice(1))
    expect(merged(eventsOf(await readUntil(reader, endsTurn)))).toEqual(merged(sent))
  expect(merged(eventsOf(await prompt))).toEqual(merged(sent))
})

test("ATT1 questions asked all at once are answered in order", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("a") }) })
  const chat = await troupe.chat("c")
  const attached = chat.attach()
  const answers = Promise.all(Array.from({ length: 7 }, () => attached.next()))
  await chat.send("go").result()
  expect(wordsOf((await answers).flatMap(({ value }) => (value === undefined ? [] : [value])))).toEqual([
    "snapshot",
    "message_started",
    "text_delta",
    "text_completed",
    "message_completed",
    "step_completed",
    "chat_completed"
  ])
})

test(`ATT2 a reader that does not read slows nothing: ${long} fragments are few items for it`, async () => {
  const script = [...Array.from({ length: long }, () => ({ text: "word " })), { finish: "stop" as const }]
  const { troupe } = await check.troupe({ adapter: check.fake({ script }) })
  const chat = await troupe.chat("c")
  const attached = chat.attach({ cursor: "turn" })
  const { finalResponse } = await chat.send("go").result()
  const events = eventsOf(await readUntil(attached, endsTurn))
  expect(textOf(events)).toBe(finalResponse?.outputText)
  expect(events.length).toBeLessThan((long * "word ".length) / maxRun + 5)
})

test("ATT2 `snapshot`: past `maxUnread` what is unread is dropped for one fresh snapshot", async () => {
  const { chat, open } = await byHand()
  const attached = chat.attach({ cursor: "turn", whenSlow: "snapshot", maxUnread: 10 })
  const near = chat.attach({ cursor: "turn", whenSlow: "snapshot", maxUnread: 11 })
  const turn = chat.send("go")
  const stream = await open(0)
  for (const letter of "abcdefghijk") stream.text(letter)
  await until(() => chat.getSnapshot()?.context.partial.text === "abcdefghijk")
  expect(wordsOf(await readUntil(near, ({ type }) => type === "event"))).toEqual(["text_delta"])
  const [item] = await readUntil(attached, () => true)
  expect(item).toMatchObject({ type: "snapshot", snapshot: { context: { partial: { text: "abcdefghijk" } } } })
  stream.text("l")
  const [next] = await readUntil(attached, () => true)
  expect(next).toMatchObject({ event: { type: "text_delta", delta: "l" } })
  stream.finish("stop")
  await turn.result()
})

test("ATT2 `coalesce`: one that stops reading gets all that the log has, and one snapshot when that is not all", async () => {
  const many = Array.from({ length: maxItems / 16 }, () => "echo")
  const { troupe } = await check.troupe({
    adapter: check.fake({
      respond: ({ messages }) => (messages.at(-1)?.role === "user" ? calls(...many) : says("done"))
    }),
    tools: [echo]
  })
  const chat = await troupe.chat("c")
  const [some, more] = [chat.attach({ cursor: "turn" }), chat.attach({ cursor: "turn" })]
  for (let turn = 0; turn < 2; turn++) await chat.send("go").result()
  for (let turn = 0; turn < 2; turn++) {
    const read = wordsOf(await readUntil(some, endsTurn))
    expect(read.filter((word) => word === "tool_execution_completed")).toHaveLength(many.length)
    expect(read).not.toContain("snapshot")
  }
  for (let turn = 0; turn < 3; turn++) await chat.send("go").result()
  const last = chat.send("go")
  const read = wordsOf(await readUntil(more, endsTurn))
  expect(read.slice(0, 2)).toEqual(["snapshot", "message_started"])
  expect(read.filter((word) => word === "tool_execution_completed")).toHaveLength(many.length)
  await last.result()
})

test("ATT3 a reader that left, however, is detached: nothing is asked, nothing listens, and the turn goes on", async () => {
  const spied = check.signal()
  const { chat, open } = await byHand()
  const turn = chat.send("go")
  const stream = await open(0)
  const { signal } = spied
  const leaving: ReadonlyArray<(attached: ReturnType<typeof chat.attach>) => Promise<unknown>> = [
    (attached) => attached.return(),
    (attached) => refusal(() => attached.throw(new Error("mine"))),
    (attached) => attached[Symbol.asyncDispose](),
    async (attached) => {
      for await (const _ of attached) break
    },
    (attached) =>
      refusal(async () => {
        for await (const _ of attached) throw new Error("mine")
      })
  ]
  for (const leave of leaving) {
    const attached = chat.attach({ signal })
    await leave(attached)
    await attached.return()
    expect(await attached.next()).toEqual({ done: true, value: undefined })
    expect(spied.listeners).toBe(0)
  }
  const waiting = chat.attach({ cursor: "turn", signal })
  const asked = [waiting.next(), waiting.next()]
  spied.abort()
  expect(await Promise.all(asked)).toEqual([1, 2].map(() => ({ done: true, value: undefined })))
  expect(await chat.attach({ signal }).next()).toEqual({ done: true, value: undefined })
  expect(spied.listeners).toBe(0)
  stream.text("on")
  stream.finish("stop")
  expect((await turn.result()).finalResponse?.outputText).toBe("on")
})

test("ATT3 the chat's stop ends what is attached, once it has read what was said; who comes later is refused", async () => {
  const spied = check.signal()
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("a") }) })
  const chat = await troupe.chat("c")
  const [waiting, late] = [chat.attach(), chat.attach({ cursor: "turn", signal: spied.signal })]
  const reading = readUntil(waiting, () => false)
  await chat.send("go").result()
  await chat.stop()
  expect(spied.listeners).toBe(0)
  expect(wordsOf(await reading).at(-1)).toBe("chat_completed")
  expect(wordsOf(await readUntil(late, () => false)).at(-1)).toBe("chat_completed")
  const refused = chat.attach()
  expect(await refusal(() => refused.next())).toMatchObject({ _tag: "SessionError", reason: "chat_stopped" })
  expect(await refused.next()).toEqual({ done: true, value: undefined })
})

test("ATT3 detach and cancel are two verbs: the one leaves the turn alone, the other ends it for all who are attached", async () => {
  const { chat, open } = await byHand()
  const [leaver, stayer] = [chat.attach(), chat.attach()]
  const turn = chat.send("go")
  const stream = await open(0)
  stream.text("par")
  await readUntil(leaver, ({ type }) => type === "event")
  await leaver.return()
  await hop()
  expect(turn.over).toBe(false)
  await chat.cancel()
  const last = (await readUntil(stayer, endsTurn)).at(-1)
  expect(last).toMatchObject({ event: { result: { haltedReason: "cancelled" } } })
  const next = chat.send("again")
  const second = await open(1)
  second.text("two")
  second.finish("stop")
  expect(textOf(eventsOf(await readUntil(stayer, endsTurn)))).toBe("two")
  await next.result()
})

test("FEED2 a cursor of another life of the chat is answered with a snapshot", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("a"), says("b")] }) })
  const chat = await troupe.chat("c")
  await chat.send("one").result()
  const cursor = await cursorIn(chat)
  await chat.stop()
  const again = await troupe.chat("c")
  await again.send("two").result()
  const [item] = await readUntil(again.attach({ cursor }), () => true)
  expect(item).toMatchObject({ type: "snapshot", snapshot: { value: "idle" } })
  expect(cursorOf(item).split(".")[0]).not.toBe(cursor.split(".")[0])
})

test("FEED2 a cursor past the newest event is answered with a snapshot", async () => {
  const { chat } = await byHand()
  const cursor = await cursorIn(chat)
  expect(wordsOf(await readUntil(chat.attach({ cursor: `${cursor}9` }), () => true))).toEqual(["snapshot"])
})

test("FEED2 what is no cursor is refused, and options that are none", async () => {
  const { chat } = await byHand()
  const wrong: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
    ["cursor", { cursor: "" }],
    ["cursor", { cursor: "last" }],
    ["cursor", { cursor: "1" }],
    ["cursor", { cursor: 7 }],
    ["cursor", { cursor: null }],
    ["cursor", { cursor: `${crypto.randomUUID()}-1.-1` }],
    ["cursor", { cursor: `${crypto.randomUUID()}-1.1.5` }],
    ["whenSlow", { whenSlow: "drop" }],
    ["maxUnread", { maxUnread: 0 }],
    ["calls", { calls: "yes" }],
    ["turn", { turn: "u1" }],
    ["cursor", { cursor: "turn", turn: { id: "u1", chat: "c", over: true } }],
    ["maxUnread", { maxUnread: "10" }],
    ["signal", { signal: "stop" }],
    ["from", { from: 1 }]
  ]
  for (const [field, options] of wrong) {
    expect(await refusal(() => chat.attach(options))).toMatchObject({
      _tag: "ValidationError",
      reason: "invalid_options",
      errors: [{ field: [field] }]
    })
  }
})

test("FEED2 `turn` is the running turn from its first event, and what comes where none runs", async () => {
  const { chat, open } = await byHand()
  const idle = chat.attach({ cursor: "turn" })
  const turn = chat.send("go")
  const stream = await open(0)
  stream.say({ type: "message_started", message: { role: "assistant", content: "" } })
  stream.text("a")
  await until(() => chat.getSnapshot()?.context.partial.text === "a")
  const midway = chat.attach({ cursor: "turn" })
  stream.finish("stop")
  await turn.result()
  const read = wordsOf(await readUntil(midway, endsTurn))
  expect(read.slice(0, 2)).toEqual(["message_started", "text_delta"])
  expect(wordsOf(await readUntil(idle, endsTurn))).toEqual(read)
})

test("FEED3 a chat whose process dies says so with a snapshot, and readers go on with its next turns", async () => {
  const { chat, open } = await byHand()
  const attached = chat.attach()
  await readUntil(attached, isSnapshot)
  const turn = chat.send("go")
  const stream = await open(0)
  stream.text("lost")
  const [, said] = [turn, (await readUntil(attached, ({ type }) => type === "event")).at(-1)]
  const { pid } = chat
  if (pid === undefined) throw new Error("no process")
  Process.kill(pid)
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  const [after] = await readUntil(attached, () => true)
  expect(after).toMatchObject({
    type: "snapshot",
    snapshot: {
      value: "interrupted",
      context: { partial: { text: "lost" }, thread: { messages: [{ content: "go" }] } }
    }
  })
  const [resumed] = await readUntil(chat.attach({ cursor: cursorOf(said) }), () => true)
  expect(resumed?.type).toBe("snapshot")
  const again = chat.retry()
  const second = await open(1)
  second.text("found")
  second.finish("stop")
  expect(textOf(eventsOf(await readUntil(attached, endsTurn)))).toBe("found")
  await again.result()
})

test("FEED3 a chat whose supervisor gave up comes back with the next turn, and so do its readers", async () => {
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter, maxRestarts: 0 })
  const chat = await troupe.chat("c")
  const attached = chat.attach()
  await readUntil(attached, isSnapshot)
  const { pid } = chat
  if (pid === undefined) throw new Error("no process")
  Process.kill(pid)
  await hop()
  expect(chat.pid).toBeUndefined()
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  adapter.streams[0]?.text("back")
  adapter.streams[0]?.finish("stop")
  const items = await readUntil(attached, endsTurn)
  expect([items[0]?.type, textOf(eventsOf(items))]).toEqual(["snapshot", "back"])
  await turn.result()
})
