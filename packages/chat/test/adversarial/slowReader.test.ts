/** A reader who is slow, or stops, slows what it reads from; what others read, and what is kept for them, it does not. */
import { Effect, Stream } from "effect"
import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent, Event } from "../../src/events/Event.ts"
import { maxRun } from "../../src/view/eventLog.ts"
import { LiveFeed } from "../../src/view/liveFeed.ts"
import { LiveState } from "../../src/view/liveState.ts"
import { LiveView } from "../../src/view/liveView.ts"
import * as Session from "../../src/session/Session.ts"
import { begins, countedAdapter, type CountedAdapter, ends, saying } from "../double/countedAdapter.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi } from "../double/scripts.ts"

const check = leakCheck()

const many = 50_000
const few = 5

function* speaking(count: number): Generator<AdapterEvent, void> {
  yield begins
  for (let index = 0; index < count; index++) yield saying("word ")
  yield ends
}

const completed: Event = {
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

const pulledAhead = (adapter: CountedAdapter, read: number): number => (adapter.streams[0]?.pulled ?? 0) - read

const forms: Readonly<Record<string, (engine: Engine.Engine) => Promise<AsyncIterator<Event>>>> = {
  "Chat.stream": (engine) => Chat.stream(engine, hi),
  "Chat.streamStep": (engine) => Chat.streamStep(engine, hi),
  "Chat.streamGenerate": (engine) => Chat.streamGenerate(engine, hi),
  "Session.streamStart": (engine) => Session.streamStart(engine, hi),
  "Session.streamStep": (engine) => Session.streamStep(engine, Session.make({ thread: hi })),
  "ChatEffect.stream": async (engine) => Stream.toAsyncIterable(ChatEffect.stream(engine, hi))[Symbol.asyncIterator]()
}

for (const [form, open] of Object.entries(forms)) {
  test(`${form}: of ${many} fragments a reader that stops after ${few} has pulled ${few}, and none ahead`, async () => {
    const adapter = countedAdapter(speaking(many))
    const stream = await open(Engine.make({ adapter }))
    await hop()
    expect(pulledAhead(adapter, 0)).toBe(0)
    for (let read = 1; read <= few; read++) {
      await stream.next()
      await hop()
      expect(pulledAhead(adapter, read)).toBe(0)
    }
    await stream.return?.()
    expect(adapter.streams[0]).toMatchObject({ pulled: few, released: 1, aborted: true })
  })
}

test("an adapter is asked for what is filtered out, and no further than the event that is read", async () => {
  const adapter = countedAdapter(speaking(100))
  const stream = await Chat.stream(Engine.make({ adapter }), hi, { emitTextDeltas: false })
  await stream.next()
  await hop()
  expect(pulledAhead(adapter, 1)).toBe(0)
  await stream.next()
  await hop()
  expect(pulledAhead(adapter, 102)).toBe(0)
  await stream.return()
})

test("a living chat with a sender, a reader and an observer that do nothing ends its turn as soon as alone", async () => {
  const { troupe } = await check.troupe({ adapter: countedAdapter(speaking(many)) })
  const chat = await troupe.chat("c")
  const attached = chat.attach()
  const { unsubscribe } = chat.subscribe(() => {})
  const turn = chat.send("go")
  expect((await turn.result()).finalResponse?.outputText.length).toBe(many * "word ".length)
  await attached.return()
  unsubscribe()
})

test("an observer gets streamed text gathered: a snapshot for all that came since the last, and none is kept for it", async () => {
  const { troupe, clock } = await check.troupe({ adapter: countedAdapter(speaking(many)) })
  const chat = await troupe.chat("c")
  const lengths: Array<number> = []
  const { unsubscribe } = chat.subscribe(({ context }) => void lengths.push(context.partial.text.length))
  const turn = chat.send("go")
  await turn.result()
  await clock.advance(1_000)
  expect(lengths.length).toBeLessThan(20)
  unsubscribe()
})

test("what is kept for readers that never read does not grow with their number, nor with what is said", () => {
  const { system } = check.system()
  let ids = 0
  const feed = new LiveFeed(new LiveView(system, new LiveState()), () => `${crypto.randomUUID()}-${ids++}`)
  for (let reader = 0; reader < 100; reader++) feed.attach("c", { cursor: "turn" })
  for (const event of speaking(2 * many)) feed.published(event)
  expect(feed.log.held.items).toBeLessThan((2 * many * "word ".length) / maxRun + 5)
  for (let turn = 0; turn < 100; turn++) for (const event of speaking(many / 10)) feed.published(event)
  expect(feed.log.held.characters).toBeLessThanOrEqual(2 ** 20)
  expect(feed.log.held.items).toBeLessThan(1_000)
  feed.end()
})

test("a chat that nobody ever attached to keeps nothing between its turns", async () => {
  const { system } = check.system()
  const feed = new LiveFeed(new LiveView(system, new LiveState()), () => `${crypto.randomUUID()}-0`)
  const turn = (): void => {
    for (const event of speaking(10)) feed.published(event)
    expect(feed.log.held.items).toBeGreaterThan(0)
    feed.published(completed)
  }
  turn()
  expect(feed.log.held.items).toBe(0)
  const attached = feed.attach("c", { cursor: "turn" })
  turn()
  expect(await attached.next()).toMatchObject({ value: { type: "event", event: begins } })
  await attached.return()
  turn()
  expect(feed.log.held.items).toBeGreaterThan(0)
  feed.end()
})

test("ChatEffect.stream read slowly asks its adapter for one event at a time", async () => {
  const adapter = countedAdapter(speaking(100))
  const ahead: Array<number> = []
  let read = 0
  const reading = ChatEffect.stream(Engine.make({ adapter }), hi).pipe(
    Stream.take(10),
    Stream.runForEach(() =>
      Effect.promise(async () => {
        read++
        await hop()
        ahead.push(pulledAhead(adapter, read))
      })
    )
  )
  await Effect.runPromise(reading)
  expect(ahead).toEqual(Array.from({ length: 10 }, () => 0))
})
