import { describe, expect, test } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import * as Message from "../../src/model/Message.ts"
import * as Store from "../../src/store/Store.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import type { UserInput } from "../../src/record/userMessage.ts"

const check = leakCheck()

/** A chat whose turn runs until it is cancelled; every other message is answered. */
const busy = async (options: Partial<TroupeOptions> = {}) => {
  const store = Store.memory()
  const adapter = check.fake({
    respond: ({ messages }) => {
      const asked = messages.at(-1)
      return asked !== undefined && Message.text(asked) === "Stay"
        ? [{ hang: true }]
        : [{ text: "Yes." }, { finish: "stop" }]
    }
  })
  const { troupe } = await check.troupe({ adapter, store, ...options })
  const chat = await troupe.chat("c")
  chat.send("Stay")
  await until(() => adapter.open === 1)
  return { troupe, chat, store }
}

const reasonOf = async (turn: LiveTurn): Promise<string> => {
  const receipt = await turn.receipt
  return receipt.status === "rejected" ? receipt.reason : receipt.status
}

const reasons = (chat: LocalChatRef, ...texts: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  Promise.all(texts.map((text) => reasonOf(chat.send(text))))

const said = async (store: SessionStore): Promise<ReadonlyArray<string>> =>
  ((await store.load("c"))?.thread.messages ?? []).filter(({ role }) => role === "user").map(Message.text)

describe("INBOX1", () => {
  test("one input too many is refused before anything is written, and what was accepted runs", async () => {
    const { chat, store } = await busy({ maxWaitingInputs: 2 })
    expect(await reasons(chat, "a", "b", "c", "d")).toEqual(["pending", "pending", "inbox_full", "inbox_full"])
    const { length } = await store.history("c")
    const refused = chat.send("e", { id: "e" })
    await expect(refused.result()).rejects.toMatchObject({
      _tag: "SessionError",
      reason: "inbox_full",
      metadata: { waiting: 2, maxWaitingInputs: 2, maxWaitingBytes: 2_097_152, maxWaitingFileBytes: 67_108_864 }
    })
    expect(await store.history("c")).toHaveLength(length)
    await chat.cancel()
    // The same id may be sent again.
    const again = chat.send("e", { id: "e" })
    expect((await again.result()).haltedReason).toBe("completed")
    expect(await said(store)).toEqual(["Stay", "a", "b", "e"])
  })

  test("by default 64 inputs wait", async () => {
    const { chat } = await busy()
    const texts = Array.from({ length: 65 }, (_, at) => `${at}`)
    expect(await reasons(chat, ...texts)).toEqual([...Array.from({ length: 64 }, () => "pending"), "inbox_full"])
  })

  test("by default 2,097,152 bytes wait, counted as JSON in UTF-8", async () => {
    const { chat } = await busy()
    const frame = JSON.stringify(Message.user("")).length
    const half = 1_048_576 - frame
    expect(await reasons(chat, "ä".repeat(half / 2), `x${"\n".repeat(half / 2 - 1)}x`, "x")).toEqual([
      "pending",
      "pending",
      "inbox_full"
    ])
  })

  test("an input larger than the bound is refused while a turn runs, and taken at rest", async () => {
    const { chat, store } = await busy({ maxWaitingBytes: 100 })
    expect(await reasons(chat, "x".repeat(100))).toEqual(["inbox_full"])
    await chat.cancel()
    await chat.send("x".repeat(100)).result()
    expect(await said(store)).toEqual(["Stay", "x".repeat(100)])
  })

  test("MEDIA3 images and files that wait have a bound of their own", async () => {
    const { chat } = await busy({ maxWaitingBytes: 1_000, maxWaitingFileBytes: 3_000 })
    const send = (base64: string) => reasonOf(chat.send([{ type: "image", image: { base64, mediaType: "image/png" } }]))
    expect(await send("A".repeat(4_004))).toBe("inbox_full")
    expect(await send("A".repeat(2_000))).toBe("pending")
    expect(await send("A".repeat(2_000))).toBe("pending")
    expect(await send("AAAA")).toBe("inbox_full")
  })

  test("MEDIA3 by default a photo of 8 MB and a text of 1 MB wait, and a message with more than 20 MiB is refused", async () => {
    const { chat } = await busy()
    const photo = (bytes: number) =>
      [{ type: "image", image: { base64: "A".repeat((bytes * 4) / 3), mediaType: "image/jpeg" } }] satisfies UserInput
    expect(await reasonOf(chat.send(photo(8_000_001)))).toBe("pending")
    expect(await reasonOf(chat.send("x".repeat(1_048_576)))).toBe("pending")
    expect(() => chat.send(photo(20_971_521))).toThrow(
      expect.objectContaining({
        _tag: "ValidationError",
        reason: "invalid_message",
        errors: [
          {
            field: ["content"],
            reason:
              "must_have_at_most 20971520 bytes in images and files, not 20971521; send fewer or smaller ones, or give an https: URL"
          }
        ]
      })
    )
  })

  test.each(["steer", "interrupt"] as const)(
    "an input that would %s counts and is refused as any other",
    async (whenBusy) => {
      const { chat } = await busy({ maxWaitingInputs: 0 })
      expect(await reasonOf(chat.send("now", { whenBusy }))).toBe("inbox_full")
    }
  )

  test("a chat at rest takes the first input of a moment, and bounds those behind it", async () => {
    const { chat } = await busy({ maxWaitingInputs: 1 })
    await chat.cancel()
    expect(await reasons(chat, "a", "b", "c")).toEqual(["delivered", "pending", "inbox_full"])
  })

  test("what an earlier life left under wider bounds runs, and counts until it has", async () => {
    const { troupe, chat, store } = await busy()
    expect(await reasons(chat, "a", "b", "c")).toEqual(["pending", "pending", "pending"])
    await troupe.stop()
    const adapter = check.fake({ script: [{ text: "Yes." }, { finish: "stop" }] })
    const { troupe: next } = await check.troupe({ adapter, store, maxWaitingInputs: 2 })
    const again = await next.chat("c")
    expect(await reasons(again, "d")).toEqual(["inbox_full"])
    await until(() => again.getSnapshot()?.context.inbox.length === 0)
    expect((await again.send("e").result()).haltedReason).toBe("completed")
    expect(await said(store)).toEqual(["Stay", "a", "b", "c", "e"])
  })

  test.each([-1, 1.5, Number.NaN, "1"])("a bound of %s is refused", async (bound) => {
    const adapter = check.fake({ script: [] })
    await expect(check.troupe({ adapter, maxWaitingInputs: bound as number })).rejects.toMatchObject({
      reason: "invalid_options"
    })
  })
})
