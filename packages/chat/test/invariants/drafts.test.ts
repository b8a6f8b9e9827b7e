import { Clock } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { draftStore, type DraftStore } from "../double/draftStore.ts"
import { heldBy } from "../double/processes.ts"
import { Drafts } from "../../src/view/liveState.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A chat whose reply streams. */
const streaming = async (store: DraftStore, options: Partial<TroupeOptions> = {}) => {
  const adapter = handAdapter()
  const made = await check.troupe({ adapter, store, ...options })
  const chat = await made.troupe.chat("c")
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  const shown = () => chat.getSnapshot()?.context.partial.text ?? ""
  const speak = async (text: string, place = 0) => {
    const before = shown()
    adapter.streams[place]?.text(text)
    await until(() => shown() === before + text)
  }
  return { ...made, chat, turn, adapter, speak }
}

/** The same clock, without a background: all of its timers are counted. */
const plain = (clock: Clock.Clock): Clock.Clock => ({
  now: () => clock.now(),
  setTimeout: (run, ms) => clock.setTimeout(run, ms),
  clearTimeout: (id) => clock.clearTimeout(id)
})

const texts = ({ drafts }: DraftStore) => drafts.map(({ text }) => text)

describe("DRAFT1 the text of a reply that streams is kept", () => {
  test("at most once in an interval, and only if it is another than before", async () => {
    const store = draftStore()
    const { clock, speak } = await streaming(store)
    for (let word = 0; word < 50; word++) await speak("a")
    expect(store.drafts).toEqual([])
    await clock.advance(1_999)
    expect(store.drafts).toEqual([])
    await clock.advance(1)
    expect(texts(store)).toEqual(["a".repeat(50)])
    await clock.advance(10_000)
    expect(store.drafts).toHaveLength(1)
    await speak("b")
    await clock.advance(2_000)
    expect(texts(store)).toEqual(["a".repeat(50), `${"a".repeat(50)}b`])
  })

  test("as often as the Troupe says, or never", async () => {
    const often = draftStore()
    const one = await streaming(often, { draftEveryMs: 10 })
    await one.speak("a")
    await one.clock.advance(10)
    expect(texts(often)).toEqual(["a"])
    const never = draftStore()
    const other = await streaming(never, { draftEveryMs: Infinity })
    await other.speak("a")
    const { timers } = heldBy(other.system)
    await other.clock.advance(1_000_000)
    expect([never.drafts, timers]).toEqual([[], 0])
  })

  test("with no timer before the reply, after it, or once it is complete", async () => {
    const clock = Clock.test()
    const kept: Array<string> = []
    const keeping = {
      clock: plain(clock),
      everyMs: 10,
      keep: ({ text }: { readonly text: string }) => void kept.push(text)
    }
    const collector = new StreamCollector()
    expect(clock.pending).toBe(0)
    const drafts = new Drafts("c", keeping, collector)
    expect(clock.pending).toBe(1)
    collector.apply({ type: "text_delta", id: null, delta: "a" })
    await clock.advance(10)
    expect([kept, clock.pending]).toEqual([["a"], 1])
    drafts.end()
    expect(clock.pending).toBe(0)
    const next = new Drafts("c", keeping, collector)
    collector.apply({
      type: "message_completed",
      message: { role: "assistant", content: "" },
      finishReason: "tool_calls"
    })
    await clock.advance(10)
    expect(clock.pending).toBe(0)
    next.end()
  })
})

describe("DRAFT2 nobody waits for a draft", () => {
  test("one that hangs holds up no save, and no other is under way beside it", async () => {
    const store = draftStore(() => new Promise(() => {}))
    const { clock, speak, turn, adapter, chat } = await streaming(store)
    await speak("a")
    await clock.advance(2_000)
    await speak("b")
    await clock.advance(2_000)
    expect(texts(store)).toEqual(["a"])
    adapter.streams[0]?.finish("stop")
    expect((await turn.result()).haltedReason).toBe("completed")
    const next = chat.send("more")
    await until(() => adapter.streams.length === 2)
    await speak("c", 1)
    await clock.advance(2_000)
    adapter.streams[1]?.finish("stop")
    expect((await next.result()).haltedReason).toBe("completed")
    expect(texts(store)).toEqual(["a"])
  })

  test.each(["throws", "rejects"] as const)("one that %s changes nothing, and the next is kept", async (how) => {
    let left = 1
    const store = draftStore(() => {
      if (left-- <= 0) return
      if (how === "throws") throw new Error("full")
      return Promise.reject(new Error("full"))
    })
    const { clock, speak, turn, adapter } = await streaming(store)
    await speak("a")
    await clock.advance(2_000)
    await speak("b")
    await clock.advance(2_000)
    expect(texts(store)).toEqual(["a", "ab"])
    adapter.streams[0]?.finish("stop")
    expect((await turn.result()).haltedReason).toBe("completed")
  })

  test("the newest that came meanwhile is kept behind a slow one", async () => {
    const slow = Promise.withResolvers<void>()
    let first = true
    const store = draftStore(() => {
      if (!first) return
      first = false
      return slow.promise
    })
    const { clock, speak } = await streaming(store)
    for (const word of ["a", "b", "c"]) {
      await speak(word)
      await clock.advance(2_000)
    }
    expect(texts(store)).toEqual(["a"])
    slow.resolve()
    await until(() => store.drafts.length === 2)
    expect(texts(store)).toEqual(["a", "abc"])
  })
})

describe("DRAFT3 STORE6 a draft is of the newest entry", () => {
  test("one that comes behind the end of its reply is dropped", async () => {
    const slow = Promise.withResolvers<void>()
    const store = draftStore(() => slow.promise)
    const { clock, speak, turn, adapter } = await streaming(store)
    await speak("late")
    await clock.advance(2_000)
    adapter.streams[0]?.finish("stop")
    await turn.result()
    slow.resolve()
    await hop()
    expect((await store.load("c"))?.draft).toBeUndefined()
  })

  test("what waits behind a slow one is not kept once the reply is over", async () => {
    const slow = Promise.withResolvers<void>()
    const store = draftStore(() => slow.promise)
    const { clock, speak, turn, adapter } = await streaming(store)
    await speak("a")
    await clock.advance(2_000)
    await speak("b")
    await clock.advance(2_000)
    adapter.streams[0]?.finish("stop")
    await turn.result()
    slow.resolve()
    await hop()
    expect(texts(store)).toEqual(["a"])
  })

  test("one asked for while an entry is written is behind that one", async () => {
    const slow = Promise.withResolvers<void>()
    const store = draftStore()
    let accepted = 0
    const accept: typeof store.accept = async (...args) => {
      if (++accepted === 1) await slow.promise
      return store.accept(...args)
    }
    const { clock, speak, chat } = await streaming({ ...store, accept })
    await speak("a")
    chat.send("waits")
    await until(() => accepted === 1)
    await clock.advance(2_000)
    expect(store.drafts).toEqual([])
    slow.resolve()
    await until(() => store.drafts.length === 1)
    expect(store.drafts).toEqual([{ text: "a", after: 1 }])
    expect(await store.load("c")).toMatchObject({
      running: true,
      draft: "a",
      inbox: [{ message: { content: "waits" } }]
    })
  })
})

test("INT2 a chat that is stopped in a reply, and revived elsewhere, has what the reply had said", async () => {
  const store = draftStore()
  const { speak, troupe } = await streaming(store)
  await speak("Once upon")
  await troupe.stop()
  const other = await check.troupe({ adapter: handAdapter(), store })
  const { phase, partial } = (await other.troupe.chat("c")).getSnapshot()?.context ?? {}
  expect([phase, partial?.text]).toEqual(["interrupted", "Once upon"])
})
