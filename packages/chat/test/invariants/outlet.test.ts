import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Event } from "../../src/events/Event.ts"
import { Outlet, type Source, QueueSource } from "../../src/events/outlet.ts"

const text = (delta: string): Event => ({ type: "text_delta", id: null, delta })
const end = { done: true, value: undefined }

/** A source that counts what is asked of it and answers by hand. */
const handSource = () => {
  let pulls = 0
  let exhausted = 0
  const source: Source = { pull: () => void pulls++, exhausted: () => void exhausted++ }
  return {
    source,
    get pulls() {
      return pulls
    },
    get exhausted() {
      return exhausted
    }
  }
}

test("OUT1 what a source says after it was detached, exhausted or replaced is dropped", async () => {
  const outlet = new Outlet()
  const [first, second] = [handSource(), handSource()]
  outlet.attach(first.source)
  const next = outlet.next()
  outlet.detach(first.source)
  outlet.emit(first.source, text("late"))
  outlet.exhaust(first.source)
  expect(first.exhausted).toBe(0)
  outlet.attach(second.source)
  outlet.emit(first.source, text("later"))
  outlet.emit(second.source, text("now"))
  expect(await next).toEqual({ done: false, value: text("now") })
})

test("OUT1 a source attached over another one is pulled, whatever the other was asked", async () => {
  const outlet = new Outlet()
  const [first, second] = [handSource(), handSource()]
  outlet.attach(first.source)
  const next = outlet.next()
  expect(first.pulls).toBe(1)
  outlet.attach(second.source)
  expect(second.pulls).toBe(1)
  outlet.emit(second.source, text("a"))
  expect(await next).toMatchObject({ value: text("a") })
})

test("OUT2 a source is pulled once for each event wanted, and not before", async () => {
  const outlet = new Outlet()
  const hand = handSource()
  outlet.attach(hand.source)
  expect(hand.pulls).toBe(0)
  const next = outlet.next()
  expect(hand.pulls).toBe(1)
  outlet.emit(hand.source, text("a"))
  await next
  expect(hand.pulls).toBe(1)
})

test("OUT2 the next phase begins when the reader asks past the last event", async () => {
  const outlet = new Outlet()
  let done = 0
  const source = new QueueSource(() => void done++)
  source.push(text("a"))
  source.end()
  outlet.attach(source)
  expect(await outlet.next()).toMatchObject({ value: text("a") })
  expect(done).toBe(0)
  void outlet.next()
  expect(done).toBe(1)
  outlet.close()
})

test("OUT3 every `next` settles: with an event, the end, or the failure once", async () => {
  const closed = new Outlet()
  const waiting = [closed.next(), closed.next()]
  closed.close()
  closed.close()
  closed.fail(new Error("too late"))
  expect(await Promise.all([...waiting, closed.next()])).toEqual([end, end, end])

  const failed = new Outlet()
  const both = Promise.allSettled([failed.next(), failed.next()])
  failed.fail(new Error("broken"))
  expect(await both).toMatchObject([{ status: "rejected", reason: { message: "broken" } }, { value: end }])
  expect(await failed.next()).toEqual(end)

  const unread = new Outlet()
  unread.fail(new Error("broken"))
  await expect(unread.next()).rejects.toThrow("broken")
  expect(await unread.next()).toEqual(end)
})

test("OUT3 readers that ask at once are answered in order", async () => {
  const outlet = new Outlet()
  const source = new QueueSource(() => outlet.close())
  outlet.attach(source)
  const answers = Promise.all([outlet.next(), outlet.next(), outlet.next()])
  source.push(text("a"))
  source.push(text("b"))
  source.end()
  expect(await answers).toEqual([{ done: false, value: text("a") }, { done: false, value: text("b") }, end])
})

test("OUT4 driven, every event is handed on at once, in order, and none after the end", () => {
  const outlet = new Outlet()
  const seen: Array<Event> = []
  outlet.drive((event) => seen.push(event))
  const source = new QueueSource(() => {})
  outlet.attach(source)
  source.push(text("a"), text("b"))
  source.push(text("c"))
  expect(seen).toEqual(["a", "b", "c"].map(text))
  outlet.close()
  source.push(text("d"))
  expect(seen).toHaveLength(3)
})

test("OUT4 driven and failed, what a later phase says reaches nobody, and the phase ends all the same", () => {
  const outlet = new Outlet()
  const seen: Array<Event> = []
  outlet.drive((event) => seen.push(event))
  outlet.fail(new Error("broken"))
  let done = 0
  const source = new QueueSource(() => void done++)
  source.push(text("a"))
  source.end()
  outlet.attach(source)
  expect([seen, done]).toEqual([[], 1])
})

test("OUT3 `released` waits for all that is held", async () => {
  const clock = Clock.test()
  const outlet = new Outlet()
  await outlet.released(clock, 1_000)
  const releaseHeld = [outlet.hold(), outlet.hold()]
  let released = 0
  const waiting = [0, 1].map(() => outlet.released(clock, 1_000).then(() => void released++))
  releaseHeld[0]?.()
  await clock.advance(0)
  expect(released).toBe(0)
  releaseHeld[1]?.()
  await Promise.all(waiting)
  expect([released, clock.pending]).toEqual([2, 0])
})

test("OUT3 `released` never waits past its deadline", async () => {
  const clock = Clock.test()
  const outlet = new Outlet()
  outlet.hold()
  let released = false
  void outlet.released(clock, 10).then(() => (released = true))
  await clock.advance(9)
  expect(released).toBe(false)
  await clock.advance(1)
  expect(released).toBe(true)
})

test("OUT3 a request for the end after it is answered at once, with the failure too", () => {
  const notified: Array<unknown> = []
  const failed = new Outlet()
  failed.fail("boom")
  failed.whenEnded((failure) => notified.push(failure))
  const closed = new Outlet()
  closed.close()
  closed.whenEnded((failure) => notified.push(failure))
  expect(notified).toEqual([{ error: "boom" }, undefined])
})

test("OUT2 flushed, what bounded sources still say is kept for the reader, before the end", async () => {
  const outlet = new Outlet()
  const asked = outlet.next()
  outlet.flush()
  outlet.flush()
  const last = new QueueSource(() => outlet.close())
  const first = new QueueSource(() => outlet.attach(last))
  for (const [source, delta] of [
    [first, "a"],
    [last, "b"]
  ] as const) {
    source.push(text(delta))
    source.end()
  }
  outlet.attach(first)
  expect(outlet.over).toBe(true)
  expect(await asked).toEqual({ done: false, value: text("a") })
  expect([await outlet.next(), await outlet.next()]).toEqual([{ done: false, value: text("b") }, end])
})

test("OUT2 flushed, a model's stream is pulled by its reader alone", async () => {
  const outlet = new Outlet()
  const hand = handSource()
  outlet.attach(hand.source)
  outlet.flush()
  expect(hand.pulls).toBe(0)
  const next = outlet.next()
  expect(hand.pulls).toBe(1)
  outlet.emit(hand.source, text("a"))
  expect(await next).toEqual({ done: false, value: text("a") })
  expect(hand.pulls).toBe(1)
})

test("OUT2 what was kept is read before the failure, and discarded with it when the reader leaves", async () => {
  const [outlet, left] = [new Outlet(), new Outlet()]
  for (const one of [outlet, left]) {
    one.flush()
    const source = new QueueSource(() => {})
    one.attach(source)
    source.push(text("a"))
    one.fail(new Error("broken"))
  }
  expect(await outlet.next()).toEqual({ done: false, value: text("a") })
  await expect(outlet.next()).rejects.toThrow("broken")
  expect(await outlet.next()).toEqual(end)
  left.leave()
  expect(await left.next()).toEqual(end)
})
