import { expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Event } from "../../src/events/Event.ts"
import { EventLog, maxCharacters, maxChunks, maxItems, maxRun } from "../../src/view/eventLog.ts"
import { merged } from "../double/merged.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const text = (delta: string, id: string | null = null): Event => ({ type: "text_delta", id, delta })
const fragment = (id: string, argumentsDelta: string): Event => ({ type: "tool_call_delta", id, argumentsDelta })
const thought = (delta: string, id: string | null = null): Event => ({ type: "reasoning_delta", id, delta })
const chunk = (of: number): Event => ({ type: "raw_chunk", chunk: { of } })
const started: Event = { type: "message_started", message: { role: "assistant", content: "" } }
const ended: Event = {
  type: "chat_completed",
  result: {
    thread: { messages: [] },
    finalResponse: undefined,
    steps: [],
    haltedReason: "completed",
    pendingToolCalls: [],
    metadata: {}
  }
}

const filled = (...events: ReadonlyArray<Event>): EventLog => {
  const log = new EventLog()
  for (const event of events) log.append(event)
  return log
}

const readFrom = (log: EventLog, place: number): ReadonlyArray<Event> => {
  const read: Array<Event> = []
  for (let at = place; ;) {
    const next = log.readFrom(at)
    if (next === undefined) return read
    read.push(next.event)
    at = next.end
  }
}

it("EVLOG1 a fragment takes a place for each character, an event one, a fragment without text none", () => {
  const log = new EventLog()
  const ends = [started, text("ab"), text(""), text("cde"), fragment("c0", "{}"), chunk(1)].map((event) => {
    log.append(event)
    return log.end
  })
  expect(ends).toEqual([1, 3, 3, 6, 8, 9])
  expect(log.count).toBe(5)
})

it("EVLOG2 fragments in a row are one, those of other texts and calls are not", () => {
  const log = filled(
    text("a"),
    text("b"),
    text("c", "t"),
    thought("d", "t"),
    thought("e", "t"),
    thought("f", "u"),
    fragment("c0", "{"),
    fragment("c0", "}"),
    fragment("c1", "{"),
    started,
    text("d", "t")
  )
  expect(readFrom(log, 0)).toEqual([
    text("ab"),
    text("c", "t"),
    thought("de", "t"),
    thought("f", "u"),
    fragment("c0", "{}"),
    fragment("c1", "{"),
    started,
    text("d", "t")
  ])
})

it("EVLOG2 a place within merged fragments is exact", () => {
  const log = filled(started, text("one "), text("two "))
  const { end } = log
  log.append(text("three"))
  expect(readFrom(log, end)).toEqual([text("three")])
  expect(readFrom(log, 1 + "one ".length)).toEqual([text("two three")])
  expect(readFrom(log, 1)).toEqual([text("one two three")])
})

it("EVLOG2 who reads as fast as fragments come gets each as it came", () => {
  const log = new EventLog()
  for (const event of [text("one "), text("two "), text("three"), fragment("c0", "{"), fragment("c0", "}")]) {
    const { end } = log
    log.append(event)
    expect(log.readFrom(end)?.event).toBe(event)
  }
})

const Said = Schema.Struct({
  what: Schema.Literals(["text", "text", "other text", "call", "call", "other call", "reasoning", "chunk", "message"]),
  letters: Schema.Literals(["", "a", "bc", "def"]),
  reads: Schema.Boolean
})

const eventOf = ({ what, letters }: typeof Said.Type): Event => {
  if (what === "text" || what === "other text") return text(letters, what)
  if (what === "reasoning") return thought(letters)
  if (what === "call" || what === "other call") return fragment(what, letters)
  return what === "chunk" ? chunk(letters.length) : started
}

it.prop(
  "EVLOG2 wherever a reader stops and reads on, it has read everything once",
  [Schema.Array(Said).check(Schema.isMaxLength(60))],
  ([story]) => {
    const log = new EventLog()
    const read: Array<Event> = []
    let place = 0
    for (const said of story) {
      log.append(eventOf(said))
      const next = said.reads ? log.readFrom(place) : undefined
      if (next === undefined) continue
      read.push(next.event)
      place = next.end
    }
    read.push(...readFrom(log, place))
    expect(merged(read)).toEqual(merged(story.map(eventOf)))
  },
  runsOf(100)
)

it("EVLOG3 a hundred thousand fragments are few items, and the newest of them", () => {
  const log = new EventLog()
  for (let index = 0; index < 100_000; index++) log.append(text("word "))
  expect(log.held.items).toBeLessThanOrEqual(Math.ceil((100_000 * "word ".length) / maxRun))
  expect(log.count).toBe(100_000)
  for (let index = 0; index < 1_000_000; index++) log.append(text("word "))
  expect(log.held.characters).toBeLessThanOrEqual(maxCharacters)
  expect(log.held.items).toBeLessThanOrEqual(maxCharacters / maxRun)
  expect([log.hasLost(0), log.hasLost(log.end - maxCharacters / 2), log.hasLost(log.end)]).toEqual([true, false, false])
})

it("EVLOG3 items and raw chunks are held up to a number, the newest of them", () => {
  const log = new EventLog()
  for (let index = 0; index < 10 * maxItems; index++) {
    log.append(fragment(`c${index}`, "{}"))
    expect(log.held.items).toBeLessThanOrEqual(maxItems)
  }
  const lately = log.end
  for (let index = 0; index < 10 * maxChunks; index++) {
    log.append(chunk(index))
    expect(log.held.chunks).toBeLessThanOrEqual(maxChunks)
  }
  expect(log.hasLost(lately)).toBe(true)
  expect(readFrom(log, log.end - 2)).toEqual([chunk(10 * maxChunks - 2), chunk(10 * maxChunks - 1)])
})

it("EVLOG3 one fragment larger than all that may be held is held, until the next item", () => {
  const log = filled(text("a"), text("x".repeat(2 * maxCharacters), "t"))
  expect(log.hasLost(1)).toBe(false)
  log.append(started)
  expect(log.held).toEqual({ items: 1, characters: 0, chunks: 0 })
  expect(readFrom(log, log.end - 1)).toEqual([started])
})

it("LOG4 the last turn is held until the next begins", () => {
  const log = filled(started, text("one"), ended)
  expect(log.turnStart).toBe(log.end)
  expect(readFrom(log, 0)).toEqual([started, text("one"), ended])
  const { end } = log
  log.append(text("two"))
  expect([log.hasLost(0), log.hasLost(end), log.turnStart]).toEqual([true, false, end])
  expect(log.held.items).toBe(1)
})

it("LOG4 what a reader has not read is held over the turn's end", () => {
  let slowest = Number.POSITIVE_INFINITY
  const log = new EventLog(() => slowest)
  for (const event of [started, text("one"), ended]) log.append(event)
  slowest = 2
  log.append(text("two"))
  expect(readFrom(log, 2)).toEqual([text("ne"), ended, text("two")])
  expect(log.hasLost(0)).toBe(true)
  log.append(ended)
  slowest = 0
  log.append(text("three"))
  expect(log.held.items).toBe(1)
})

it("LOG4 when every place is lost nothing is held, and places still grow", () => {
  const log = filled(started, text("one"))
  const { end } = log
  log.clear()
  expect([log.hasLost(end), log.hasLost(log.end), log.held.items, log.turnStart === log.end]).toEqual([
    true,
    false,
    0,
    true
  ])
  expect(log.end).toBeGreaterThan(end)
  log.append(text("two"))
  expect(readFrom(log, log.turnStart)).toEqual([text("two")])
})
