import { Fake, type RunningTroupe, Troupe, user } from "@troupe/chat"
import { Message, Thread } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { Conversation, Codec, Store } from "@troupe/chat/store"
import { Clock, System } from "@troupe/otp"
import { afterAll, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { save } from "../double/records.ts"

const folder = new Folder()
afterAll(() => folder[Symbol.dispose]())

/** The heap after collections. */
const heapBytes = async (): Promise<number> => {
  for (let times = 0; times < 6; times++) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    if (gc === undefined) throw new Error("run this with --expose-gc")
    gc()
  }
  return process.memoryUsage().heapUsed
}

/** The milliseconds of the processor that this thread has had. */
const threadMs = (): number => {
  const { user: own, system } = process.threadCpuUsage()
  return (own + system) / 1_000
}

/** The Fake keeps its requests, and this adapter does not. */
const adapter: Adapter.Adapter = {
  name: "talker",
  stream: async function* ({ messages }) {
    const said = `hello ${messages.length}`
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    yield { type: "text_completed", id: null, text: said }
    yield { type: "message_completed", message: { role: "assistant", content: said }, finishReason: "stop" }
  }
}

const converse = async (troupe: RunningTroupe, from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at++) await (await troupe.chat(`c${at}`)).send("hi").result()
}

test(
  "PASS3 a chat at rest with one turn holds at most 5 kB, and an unloaded one on SQLite at most 0.3 kB",
  { timeout: 240_000 },
  async () => {
    const store = sqlite(folder.file(), { durability: "process" })
    const clock = Clock.test()
    const system = System.make({ name: "rest", clock })
    const troupe = await Troupe.start({ adapter, store, system, passivateAfterMs: 1_000 })
    // By then the compiler has seen the code, and its own memory grows no more.
    await converse(troupe, 0, 1_100)
    const before = await heapBytes()
    await converse(troupe, 1_100, 2_000)
    const atRest = ((await heapBytes()) - before) / 900
    expect(atRest).toBeLessThan(5_120)
    for (let quarter = 0; quarter < 8; quarter++) await clock.advance(250)
    expect(troupe.isAlive("c1000")).toBe(false)
    const unloaded = await heapBytes()
    await converse(troupe, 2_000, 3_000)
    for (let quarter = 0; quarter < 8; quarter++) await clock.advance(250)
    expect(((await heapBytes()) - unloaded) / 1_000).toBeLessThan(307)
    await troupe.stop()
    await System.stop(system)
    await store.close()
  }
)

/** A thread of so many messages: questions, calls, results and answers. */
const threadOf = (count: number): Thread.Thread =>
  Thread.from(
    Array.from({ length: count }, (_, at) => {
      const id = `call_${at - (at % 4) + 1}`
      if (at % 4 === 0) return user(`question ${at} ${"x".repeat(60)}`)
      if (at % 4 === 1)
        return Message.assistant("let me look", [{ id, name: "weather", arguments: { city: "Oslo", at } }])
      if (at % 4 === 2) return { ...Message.toolResult(id, { degrees: at }), outcome: "completed" as const }
      return { ...Message.assistant(`answer ${at} ${"y".repeat(100)}`), metadata: { finish_reason: "stop" } }
    })
  )

test(
  "ROWS3 the start of a chat of 5,000 messages costs at most 1.8 times two checks of its record by its schema, and other tasks run in between",
  { timeout: 120_000 },
  async () => {
    const store = sqlite(folder.file(), { durability: "process" })
    const record: Conversation = { ...Store.blank("long"), thread: threadOf(5_000) }
    await save(store, record, { after: 0 })
    const encoded = JSON.parse(Codec.encode("ChatRecord", record)) as unknown
    const checkTwice = (): number => {
      const began = threadMs()
      Codec.fromJson("ChatRecord", encoded)
      Conversation.parse(record)
      return threadMs() - began
    }

    /** The time of a start, and the longest time between two turns of the event loop in it. */
    const startOnce = async (): Promise<readonly [number, number]> => {
      const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }), store })
      const began = threadMs()
      let [longest, last, isOver] = [0, began, false]
      const look = (): void => {
        const now = threadMs()
        longest = Math.max(longest, now - last)
        last = now
        if (!isOver) setImmediate(look)
      }
      setImmediate(look)
      await troupe.chat("long")
      const cost = threadMs() - began
      isOver = true
      look()
      await troupe.stop()
      return [cost, longest]
    }

    let [least, start, hold] = [Infinity, Infinity, Infinity]
    for (let round = 0; round < 12; round++) {
      least = Math.min(least, checkTwice())
      const [cost, longest] = await startOnce()
      start = Math.min(start, cost)
      hold = Math.min(hold, longest)
    }
    expect(start / least).toBeLessThan(1.8)
    expect(hold).toBeLessThan(8)
    await store.close()
  }
)
