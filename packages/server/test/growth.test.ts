import type { Adapter } from "@troupe/chat/models"
import type { Store } from "@troupe/chat/store"
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { served, turn } from "./double/served.ts"

/** The heap after collections. */
const heapBytes = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await turn()
    if (gc === undefined) throw new Error("run this with --expose-gc")
    gc()
  }
  return process.memoryUsage().heapUsed
}

/** What each grows the heap by: of some rounds the least, since what stays grows in all of them, and code only in some. */
const growthOf = async (round: (from: number) => Promise<void>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  let before = Number.POSITIVE_INFINITY
  for (let rounds = 0; rounds < 6; rounds++) {
    await round(rounds * many)
    const after = await heapBytes()
    if (rounds > 0) least = Math.min(least, (after - before) / many)
    before = after
  }
  return least
}

/** The Fake keeps its requests, and this one does not. */
const adapter: Adapter.Adapter = {
  name: "hello",
  stream: async function* () {
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    yield { type: "text_completed", id: null, text: "Hi" }
    yield { type: "message_completed", message: { role: "assistant", content: "Hi" }, finishReason: "stop" }
  }
}

const nothing: Store.Store = { load: () => undefined, save: () => {}, delete: () => {} }

const limits = { requestsPerMinute: 1e9, conversations: 1e9 }

/** How many come and go in a round. */
const many = 300

/** Bytes: what stays of a conversation is hundreds at least. */
const bound = 150

test.each(["text/event-stream", "application/json"])(
  "a conversation that was deleted leaves nothing behind (%s)",
  async (accept) => {
    const { ask } = await served({ adapter }, { limits })
    const growth = await growthOf(async (from) => {
      for (let at = from; at < from + many; at++) {
        await (await ask("POST", `/chats/c${at}/messages?wait`, { input: "Hello" }, { accept })).text()
        await (await ask("DELETE", `/chats/c${at}`)).text()
      }
    })
    expect(growth).toBeLessThan(bound)
  }
)

test("a conversation that was deleted leaves nothing behind (a whole completion)", async () => {
  const { ask } = await served({ adapter }, { limits })
  const body = { model: "troupe", messages: [{ role: "user", content: "Hello" }] }
  const growth = await growthOf(async (from) => {
    for (let at = from; at < from + many; at++) {
      await (await ask("POST", "/v1/chat/completions", body, { "x-troupe-chat": `c${at}` })).text()
      await (await ask("DELETE", `/chats/c${at}`)).text()
    }
  })
  expect(growth).toBeLessThan(bound)
})

test("OWNER2 a conversation that was passivated leaves nothing behind but what the store keeps", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const { ask } = await served({ adapter, system, store: nothing, passivateAfterMs: 1_000 }, { limits })
  const growth = await growthOf(async (from) => {
    for (let at = from; at < from + many; at++) {
      await (await ask("POST", `/chats/c${at}/messages?wait`, { input: "Hello" })).text()
    }
    await clock.advance(2_000)
    await clock.advance(2_000)
  })
  expect(growth).toBeLessThan(bound)
})
