import { expect, test } from "vitest"
import { Chat, Engine, Troupe, user } from "@troupe/chat"
import { type AdapterStream, eventsOf, type Yielded } from "../../src/adapter/adapterStream.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { AdapterEvent, Event } from "../../src/events/Event.ts"
import { readAll, tagsOf } from "../double/scripts.ts"

const started: AdapterEvent = { type: "message_started", message: { role: "assistant", content: "" } }
const text = (delta: string): AdapterEvent => ({ type: "text_delta", id: null, delta })
const completed: AdapterEvent = {
  type: "message_completed",
  message: { role: "assistant", content: "" },
  finishReason: "stop"
}

/** An adapter that yields these elements, and counts those that were asked for. */
const yielding = (...elements: ReadonlyArray<Yielded>) => {
  const seen = { pulls: 0, returns: 0 }
  const stream = async function* (): AsyncGenerator<Yielded, void> {
    try {
      for (const element of elements) {
        seen.pulls++
        yield element
      }
    } finally {
      seen.returns++
    }
  }
  return { seen, adapter: { name: "several", stream: (): AdapterStream => stream() } }
}

const replyOf = async (...elements: ReadonlyArray<Yielded>): Promise<ReadonlyArray<Event>> =>
  readAll(await Chat.streamGenerate(Engine.make({ adapter: yielding(...elements).adapter }), [user("go")]))

test("ASRC8 the events of an array pass one by one, and the next element is asked for after the last", async () => {
  const { adapter, seen } = yielding([started, text("a"), text("b")], text("c"), [completed])
  const events = await Chat.stream(Engine.make({ adapter }), [user("go")])
  const read: Array<Event> = []
  const pulls: Array<number> = []
  for await (const event of events) {
    read.push(event)
    pulls.push(seen.pulls)
  }
  expect(tagsOf(read).slice(0, 5)).toEqual([
    "message_started",
    "text_delta",
    "text_delta",
    "text_delta",
    "message_completed"
  ])
  expect(pulls.slice(0, 5)).toEqual([1, 1, 1, 2, 3])
})

test("ASRC8 a live chat joins the unread fragments of an array, and loses none", async () => {
  const { adapter } = yielding([started, ...Array.from({ length: 100 }, (_, index) => text(`${index} `))], [completed])
  const troupe = await Troupe.start({ adapter })
  const chat = await troupe.chat("several")
  let said = ""
  for await (const event of chat.send("go")) if (event.type === "text_delta") said += event.delta
  expect(said).toBe(Array.from({ length: 100 }, (_, index) => `${index} `).join(""))
  await troupe.stop()
})

test("ASRC8 ASRC2 a reader that leaves within an array releases the sequence, and the rest is discarded", async () => {
  const { adapter, seen } = yielding([started, text("a"), text("b")], [completed])
  const events = await Chat.stream(Engine.make({ adapter }), [user("go")])
  for await (const event of events) if (event.type === "text_delta") break
  expect(seen).toEqual({ pulls: 1, returns: 1 })
  expect(await events.next()).toEqual({ done: true, value: undefined })
})

test("ASRC8 REPLY1 an event after message_completed is an error within an array too", async () => {
  const events = await replyOf([started, text("a"), completed, text("late")], text("never"))
  expect(tagsOf(events)).toEqual(["message_started", "text_delta", "message_completed", "error"])
})

test("ASRC8 REPLY2 an empty array, an array within an array, and a value that is no event are skipped", async () => {
  const odd = [[], [started], 7, null] as unknown as ReadonlyArray<AdapterEvent>
  const events = await replyOf([], odd, [started, text("a")], [], [completed])
  expect(tagsOf(events)).toEqual(["message_started", "text_delta", "message_completed"])
})

test("ASRC8 REPLY2 a sequence of empty arrays ends", async () => {
  const endless = async function* (): AsyncGenerator<Yielded, void> {
    for (;;) yield []
  }
  const result = await Chat.run(Engine.make({ adapter: { name: "empty", stream: () => endless() } }), [user("go")])
  expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "malformed_response" } } })
})

test("ASRC8 an array that cannot be read ends the request with an error", async () => {
  const hostile = new Proxy<ReadonlyArray<AdapterEvent>>([started, text("a")], {
    get: (target, name) => {
      if (name === "1") throw new Error("no")
      return Reflect.get(target, name)
    }
  })
  expect(tagsOf(await replyOf(hostile))).toEqual(["message_started", "error"])
})

test("a fallback marks message_started within an array", async () => {
  const down = { name: "down", stream: () => Promise.reject(new AdapterError("provider_unavailable")) }
  const { adapter } = yielding([started, text("a")], [completed])
  const engine = Engine.make({ adapter: down, fallbacks: [adapter], retry: false })
  const { finalResponse } = await Chat.run(engine, [user("go")])
  expect(finalResponse?.metadata).toMatchObject({ fallback: { index: 0, adapter: "several" } })
})

test("`eventsOf` gives the events one by one, asks only when none is left, and passes `return` on", async () => {
  const { adapter, seen } = yielding([started, text("a")], [], [text("b")], completed)
  const events = eventsOf(adapter.stream())[Symbol.asyncIterator]()
  expect(seen.pulls).toBe(0)
  expect((await events.next()).value).toBe(started)
  expect((await events.next()).value).toEqual(text("a"))
  expect(seen.pulls).toBe(1)
  expect((await events.next()).value).toEqual(text("b"))
  expect(seen.pulls).toBe(3)
  await events.return?.()
  expect(seen.returns).toBe(1)
  expect(await events.next()).toEqual({ done: true, value: undefined })
  const all: Array<AdapterEvent> = []
  for await (const event of eventsOf(yielding([started], completed).adapter.stream())) all.push(event)
  expect(all).toEqual([started, completed])
})

test("`eventsOf` rejects with the failure of the sequence", async () => {
  const broken = async function* (): AsyncGenerator<Yielded, void> {
    yield [started]
    throw new Error("socket")
  }
  const events = eventsOf(broken())[Symbol.asyncIterator]()
  await events.next()
  await expect(events.next()).rejects.toThrow("socket")
})
