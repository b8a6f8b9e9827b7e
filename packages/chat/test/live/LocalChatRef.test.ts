import { describe, expect, expectTypeOf, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"
import type { ChatRef } from "../../src/troupe/ChatRef.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import * as ChatView from "../../src/view/ChatView.ts"
import { memory } from "../../src/store/Store.ts"

const check = leakCheck()

/** A chat whose first reply hangs until it is cancelled. */
const busyChat = async () => {
  let replies = 0
  const adapter = check.fake({ respond: () => (replies++ === 0 ? [{ text: "par" }, { hang: true }] : says("done")) })
  const { troupe } = await check.troupe({ adapter, store: memory() })
  const chat = await troupe.chat("c")
  const running = chat.send("go", { id: "m1" })
  await until(() => adapter.open === 1)
  return { troupe, adapter, chat, running }
}

test("REF6 a chat of this program is a ChatRef, whose view is that of its snapshot", async () => {
  const { chat } = await busyChat()
  const ref: ChatRef = chat
  expectTypeOf<Parameters<ChatRef["send"]>>().toExtend<Parameters<LocalChatRef["send"]>>()
  expectTypeOf<"pid" | "thread" | "getSnapshot" | "subscribe" | "leave">()
    .exclude<keyof ChatRef>()
    .toEqualTypeOf<"pid" | "thread" | "getSnapshot" | "subscribe" | "leave">()
  expect(await ref.view()).toEqual(ChatView.of("c", chat.getSnapshot()))
  const { value } = await ref.attach().next()
  expect(value).toMatchObject({ type: "snapshot", view: { id: "c", phase: "streaming" } })
  await ref.cancel()
})

describe("REF7 a `send` with the id of an input", () => {
  test("returns the turn that runs, whatever its `whenBusy` is", async () => {
    const { chat, running } = await busyChat()
    for (const whenBusy of ["queue", "steer", "interrupt", "reject"] as const) {
      expect(chat.send("go", { id: "m1", whenBusy })).toBe(running)
    }
    expect(running.over).toBe(false)
    await chat.cancel()
  })

  test("returns the turn that waits", async () => {
    const { chat } = await busyChat()
    const queued = chat.send("more", { id: "m2" })
    await queued.receipt
    const steering = chat.send("aside", { id: "m3", whenBusy: "steer" })
    await steering.receipt
    expect(chat.send("more", { id: "m2", whenBusy: "reject" })).toBe(queued)
    expect(chat.send("aside", { id: "m3" })).toBe(steering)
    await chat.cancel()
    await Promise.all([queued.result(), steering.result()])
  })

  test("returns the turn of an input that an earlier start left, and starts it once", async () => {
    const { troupe, chat } = await busyChat()
    await chat.send("more", { id: "m2" }).receipt
    await chat.stop()
    const again = await troupe.chat("c")
    const held = again.send("more", { id: "m2" })
    expect(again.send("more", { id: "m2" })).toBe(held)
    expect((await held.result()).haltedReason).toBe("completed")
    expect(again.thread.messages.filter(({ content }) => content === "more")).toHaveLength(1)
  })

  test("returns the turn of a retry that answers it, and of a retry of that", async () => {
    const { chat, adapter, running, troupe } = await busyChat()
    await chat.leave()
    await expect(running.result()).rejects.toMatchObject({ reason: "moved" })
    const again = await troupe.chat("c")
    const first = again.retry()
    expect(again.send("go", { id: "m1" })).toBe(first)
    await first.result()
    const second = again.retry()
    expect(again.send("go", { id: "m1" })).toBe(second)
    await second.result()
    await expect(again.send("go", { id: "m1" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
    expect(adapter.open).toBe(0)
  })
})
