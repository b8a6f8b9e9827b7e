import { Fake, type RunningTroupe, Troupe, tool } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { afterAll, describe, expect, test } from "vitest"
import { sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"

const folder = new Folder()
afterAll(() => folder[Symbol.dispose]())

/** A provider that numbers its calls: every reply to a person calls `pay` as `call_0`, every other reply ends the turn. */
const numbering = (): Fake.Fake =>
  Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "call_0", name: "pay", arguments: { euros: 9 } } }, { finish: "tool_calls" }]
        : [{ text: "Paid." }, { finish: "stop" }]
  })

/** A service that does nothing for a key that it has seen, and a tool that pays through it. */
const service = () => {
  const paid: Array<string> = []
  let hung: (() => void) | undefined
  const pay = tool({
    name: "pay",
    execute: (_, { idempotencyKey }) => {
      if (!paid.includes(idempotencyKey)) paid.push(idempotencyKey)
      if (hung === undefined) return "paid"
      hung()
      hung = undefined
      return new Promise(() => {})
    }
  })
  /** The next run never ends; resolves when it has begun. */
  const hang = (): Promise<void> =>
    new Promise((resolve) => {
      hung = resolve
    })
  return { pay, paid, hang }
}

const kinds = [
  { name: "a store in memory", open: (store: Store.SessionStore | undefined) => store ?? Store.memory() },
  { name: "a store in an SQLite file", open: (_: unknown, at: string) => sqlite(at) }
]

describe.each(kinds)("the keys of calls in $name", ({ open }) => {
  /** A program, and the next one that begins with what it left. */
  const programs = () => {
    const at = folder.file()
    const { pay, paid, hang } = service()
    let store: Store.SessionStore | undefined
    const start = (): Promise<RunningTroupe> =>
      Troupe.start({ adapter: numbering(), tools: [pay], store: (store = open(store, at)) })
    return { start, paid, hang }
  }

  test("KEY1. A call that is made after a rewind has another key than the call that the rewind removed", async () => {
    const { start, paid } = programs()
    const first = await start()
    await (await first.chat("a")).send("Pay").result()
    await first.rewind("a", 0)
    await (await first.chat("a")).send("Pay").result()
    expect(paid).toHaveLength(2)
    await first.stop()
    const second = await start()
    await second.rewind("a", 0)
    await (await second.chat("a")).send("Pay again, please").result()
    expect(new Set(paid).size).toBe(3)
    await second.stop()
  })

  test("KEY1. A call that a retry or an edited message brings has another key than the call in its place before", async () => {
    const { start, paid } = programs()
    const first = await start()
    const chat = await first.chat("a")
    await chat.send("Pay").result()
    const asked = (await first.history("a")).find(({ isStep }) => isStep)
    await first.rewind("a", asked?.seq ?? 0)
    expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user"])
    await chat.retry().result()
    expect(new Set(paid).size).toBe(2)
    await first.stop()
    const second = await start()
    await second.rewind("a", asked?.seq ?? 0)
    await (await second.chat("a")).retry().result()
    expect(new Set(paid).size).toBe(3)
    await second.stop()
  })

  test("KEY1. After a fork the calls of both conversations have keys of their own", async () => {
    const { start, paid } = programs()
    const first = await start()
    const chat = await first.chat("a")
    await chat.send("Pay").result()
    const at = (await first.history("a")).find(({ isStep }) => isStep)?.seq ?? 0
    await (await first.fork("a", { at, id: "b" })).retry().result()
    await first.rewind("a", at)
    await chat.retry().result()
    await (await first.chat("b")).send("Once more").result()
    expect(new Set(paid).size).toBe(4)
    await first.stop()
  })

  test("KEY2. A call that was interrupted has the same key after a restart; a fork of its open step is refused", async () => {
    const { start, paid, hang } = programs()
    const first = await start()
    await (await first.chat("a")).send("Pay").result()
    await first.rewind("a", 0)
    const begun = hang()
    const turn = (await first.chat("a")).send("Pay")
    await begun
    await first.stop()
    await turn.result().catch(() => {})
    const second = await start()
    const chat = await second.chat("a")
    const { version } = (await second.at("a", (await second.history("a")).at(-1)?.seq ?? 0)) ?? {}
    await expect(second.fork("a", { at: version, id: "b" })).rejects.toMatchObject({ reason: "not_a_step" })
    const before = await second.fork("a", { id: "b" })
    await chat.approve("call_0", { type: "allow" }).result()
    expect(paid).toHaveLength(2)
    await before.retry().result()
    expect(new Set(paid).size).toBe(3)
    await second.stop()
  })
})
