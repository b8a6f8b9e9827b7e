import { Fake, tool, Troupe } from "@troupe/chat"
import type { Response } from "@troupe/chat/models"
import { Codec } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import { memory } from "../double/savingStore.ts"

const answering = (text: string) =>
  Fake.make({ script: [{ text }, { usage: { outputTokens: 2 } }, { finish: "stop" }] })

/** A store, and how many entries it was given. */
const counted = () => {
  const store = memory()
  let entries = 0
  return {
    store: { ...store, save: (...given: Parameters<typeof store.save>) => (entries++, store.save(...given)) },
    entries: () => entries
  }
}

describe("the metadata of the host", () => {
  test("HOSTDATA1. is stored with the reply, the result and the thread, in the entries that are written anyway", async () => {
    const paying = () =>
      Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "pay" } }, { usage: { outputTokens: 5 } }, { finish: "tool_calls" }],
          [{ text: "Paid" }, { usage: { outputTokens: 2 } }, { finish: "stop" }]
        ]
      })
    const run = async (storedMetadata?: {
      readonly ofMessage: (reply: Response | undefined) => Readonly<Record<string, unknown>> | undefined
      readonly ofThread: () => Readonly<Record<string, unknown>>
    }) => {
      const { store, entries } = counted()
      const troupe = await Troupe.start({
        adapter: paying(),
        tools: [tool({ name: "pay", execute: () => "paid" })],
        store
      })
      const chat = await troupe.chat("c")
      await chat.send("Pay", { options: { storedMetadata } }).result()
      await troupe.stop()
      return { record: await store.load("c"), entries: entries() }
    }
    let steps = 0
    const { record, entries } = await run({
      ofMessage: (reply) => ({ tokens: reply?.usage.outputTokens ?? "call" }),
      ofThread: () => ({ steps: ++steps })
    })
    expect(record?.thread.metadata).toEqual({ steps: 2 })
    expect(record?.thread.messages.map(({ metadata }) => metadata?.["tokens"])).toEqual([undefined, 5, "call", 2])
    expect((await run()).entries).toBe(entries)
  })

  test("HOSTDATA1. of the thread stays when a later turn has none", async () => {
    const store = memory()
    const first = await Troupe.start({ adapter: answering("Hi"), store })
    await (await first.chat("c")).send("One", { options: { storedMetadata: { ofThread: () => ({ a: 1 }) } } }).result()
    await first.stop()
    const second = await Troupe.start({ adapter: answering("Hi"), store })
    const chat = await second.chat("c")
    await chat.send("Two").result()
    expect(chat.thread.metadata).toEqual({ a: 1 })
    await second.stop()
  })
})

describe("a retry with a number", () => {
  test("ATTEMPT1. gives it to the last message of a person, before its answer, and a later retry keeps it", async () => {
    const store = memory()
    let answers = 0
    const troupe = await Troupe.start({
      adapter: Fake.make({ respond: () => [{ text: String(++answers) }, { finish: "stop" }] }),
      store
    })
    const chat = await troupe.chat("c")
    await chat.send("One", { id: "u1" }).result()
    expect(chat.thread.messages[0]).not.toHaveProperty("attempt")
    await chat.retry({ attempt: 2 }).result()
    await chat.retry().result()
    expect(chat.thread.messages).toMatchObject([{ attempt: 2 }, { content: "3" }])
    const entries = await troupe.history("c")
    const all = await Promise.all(entries.map(async ({ seq }) => store.at("c", seq)))
    expect(all.map((record) => Reflect.get(record?.thread.messages[0] ?? {}, "attempt"))).toContain(2)
    expect(all.findLast((record) => record?.thread.messages.length === 1)?.thread.messages[0]).toMatchObject({
      attempt: 2
    })
    await expect(chat.send("One", { id: "u1" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
    const record = await store.load("c")
    expect(record === undefined ? undefined : Codec.decode("ChatRecord", Codec.encode("ChatRecord", record))).toEqual(
      record
    )
    await troupe.stop()
  })

  test.each([0, -1, 1.5, "2"])("refuses the number %s", async (attempt) => {
    const troupe = await Troupe.start({ adapter: answering("Hi") })
    const chat = await troupe.chat("c")
    await chat.send("One").result()
    expect(() => chat.retry({ attempt: attempt as number })).toThrow(/attempt/)
    await troupe.stop()
  })
})
