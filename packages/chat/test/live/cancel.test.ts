import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { memory } from "../../src/store/Store.ts"
import { make } from "../../src/tool/Tool.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const manual = make({ name: "manual", manual: true })

/** A store in memory, whose next save waits for its release. */
const gated = () => {
  const store = memory()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let isHeld = false
  const save: SessionStore["save"] = (...args) => {
    if (!isHeld) return store.save(...args)
    isHeld = false
    return promise.then(() => store.save(...args))
  }
  return { store: { ...store, save }, hold: () => void (isHeld = true), release: () => resolve(undefined) }
}

/** Whether a promise settles without a timer. */
const settles = async (promise: Promise<unknown>): Promise<boolean> => {
  let isSettled = false
  void promise.then(() => (isSettled = true))
  await hop()
  return isSettled
}

describe("REF9 `cancel` of a turn that has not begun", () => {
  test("cancels it when it waits until the end of a wait is stored", async () => {
    const { store, hold, release } = gated()
    const adapter = check.fake({ scripts: [calls("manual"), [{ text: "Hi" }, { hang: true }]] })
    const { troupe, clock } = await check.troupe({ adapter, store, tools: [manual], suspendedTtlMs: 1_000 })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    hold()
    await clock.advance(1_000)
    expect(chat.getSnapshot()?.value).toBe("expiring")
    const again = chat.retry()
    const cancelled = chat.cancel()
    release()
    expect(await settles(cancelled)).toBe(true)
    expect((await again.result()).haltedReason).toBe("cancelled")
  })

  test("resolves when its process died, and the next one waits for a decision", async () => {
    const pay = handling("pay", () => new Promise(() => {}))
    const adapter = check.fake({ scripts: [calls("pay"), says("thanks"), says("again")] })
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [pay] })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    const message = chat.send("And?")
    await message.receipt
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await until(() => running.over)
    expect(await settles(chat.cancel())).toBe(true)
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
    expect([message.status, message.over]).toEqual(["pending", false])
    await chat.approve("c0", { type: "deny", reason: "no" }).result()
    expect((await message.result()).haltedReason).toBe("completed")
  })

  test("cancels it although an interrupt is sent before its process starts again", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: memory() })
    const chat = await troupe.chat("c")
    const running = chat.send("go")
    await until(() => adapter.streams.length === 1)
    const message = chat.send("And?")
    await message.receipt
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await until(() => running.over)
    const cancelled = chat.cancel()
    const urgent = chat.send("Stop", { whenBusy: "interrupt" })
    expect(await settles(cancelled)).toBe(true)
    expect((await message.result()).haltedReason).toBe("cancelled")
    await until(() => adapter.streams.length === 2)
    adapter.streams[1]?.text("Yes.")
    adapter.streams[1]?.finish("stop")
    expect((await urgent.result()).haltedReason).toBe("completed")
  })
})
