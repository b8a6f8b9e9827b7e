import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { memory, type SavingStore } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"

const check = leakCheck()

const manual = make({ name: "manual", manual: true })

/** A store in memory, whose next save waits for its release. */
const gated = () => {
  const store = memory()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let isHeld = false
  const save: SavingStore["save"] = (...args) => {
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

describe("REF9 `cancel` names its turn", () => {
  const moments = Array.from({ length: 24 }, (_, moment) => moment)

  test.each(["by its id", "as the turn", "without a name"])("never ends the next turn (%s)", async (way) => {
    const seen: Array<readonly [number, unknown, unknown]> = []
    for (const moment of moments) {
      const adapter = handAdapter()
      const { troupe } = await check.troupe({ adapter, store: memory() })
      const chat = await troupe.chat("c")
      const first = chat.send("one", { id: "first" })
      const second = chat.send("two", { id: "second" })
      await until(() => adapter.streams.length === 1)
      adapter.streams[0]?.finish("stop")
      for (let turn = 0; turn < moment % 6; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
      for (let turn = 0; turn < moment >> 1; turn++) await Promise.resolve()
      const isFirst = chat.getSnapshot()?.context.turn?.delivery?.id === "first"
      const options = way === "by its id" ? { turn: "first" } : way === "as the turn" ? { turn: first } : undefined
      const cancelled = options === undefined && !isFirst ? Promise.resolve() : chat.cancel(options)
      const isOver = await settles(cancelled)
      await until(() => adapter.streams.length === 2)
      adapter.streams[1]?.finish("stop")
      seen.push([moment, isOver, (await second.result()).haltedReason])
      await troupe.stop()
    }
    expect(seen).toEqual(moments.map((moment) => [moment, true, "completed"]))
  })

  test("ends the running turn that the named input joined, and the retry of the named input", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: memory() })
    const chat = await troupe.chat("c")
    const first = chat.send("one")
    await until(() => adapter.streams.length === 1)
    const joined = chat.send("two", { whenBusy: "steer", id: "joined" })
    adapter.streams[0]?.finish("stop")
    await until(() => adapter.streams.length === 2)
    await chat.cancel({ turn: "joined" })
    expect([(await first.result()).haltedReason, (await joined.result()).haltedReason]).toEqual([
      "cancelled",
      "cancelled"
    ])
    const again = chat.retry()
    await until(() => adapter.streams.length === 3)
    await chat.cancel({ turn: "joined" })
    expect((await again.result()).haltedReason).toBe("cancelled")
  })

  test("does nothing to a turn that is over, also to one whose id the chat has no longer", async () => {
    const pay = handling("pay", () => Promise.resolve(ok("paid")))
    const adapter = check.fake({ scripts: [calls("pay"), says("a"), says("b"), says("c")] })
    const permissions = { ask: () => "suspend" as const }
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [pay], permissions })
    const chat = await troupe.chat("c")
    const asked = chat.send("one", { id: "named" })
    await asked.result()
    const decided = chat.approve("c0", { type: "allow" })
    await decided.result()
    const again = chat.retry()
    await again.result()
    await chat.cancel({ turn: again.id })
    await chat.send("two").result()
    for (const turn of [asked, decided, again, "named"]) await chat.cancel({ turn })
    const refused = chat.submitToolResults({})
    await refused.ended
    await chat.cancel({ turn: refused })
    expect(chat.getSnapshot()?.value).toBe("idle")
  })

  test.each([false, true])("rejects for an id of which the chat has no turn (a turn runs: %s)", async (runs) => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: memory() })
    const chat = await troupe.chat("c")
    const running = runs ? chat.send("one") : undefined
    if (runs) await until(() => adapter.streams.length === 1)
    for (const turn of ["zzz", { id: "zzz" }]) {
      await expect(chat.cancel({ turn })).rejects.toMatchObject({ reason: "unknown_input", metadata: { input: "zzz" } })
    }
    expect(running?.over).not.toBe(true)
    if (runs) await chat.cancel()
  })

  test("after a stop, rejects for what still waits, and for what it does not know", async () => {
    const adapter = check.fake({ scripts: [says("a"), calls("manual")] })
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [manual] })
    const chat = await troupe.chat("c")
    const first = chat.send("one")
    await first.result()
    const waiting = chat.send("two")
    await waiting.result()
    await chat.stop()
    for (const options of [undefined, { turn: waiting }, { tasks: true }]) {
      await expect(chat.cancel(options)).rejects.toMatchObject({ reason: "chat_stopped" })
    }
    await expect(chat.cancel({ turn: "zzz" })).rejects.toMatchObject({ reason: "unknown_input" })
    await chat.cancel({ turn: first })
  })

  test("after a stop in mid-turn, resolves: the turn is over", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: memory() })
    const chat = await troupe.chat("c")
    const turn = chat.send("one")
    await until(() => adapter.streams.length === 1)
    await chat.stop()
    for (const options of [undefined, { turn }, { turn: turn.id }]) await chat.cancel(options)
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_stopped" })
  })

  test("does nothing to a turn that is over, and refuses what names no turn", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("a"), says("b")] }), store: memory() })
    const chat = await troupe.chat("c")
    const first = chat.send("one")
    await first.result()
    await chat.cancel({ turn: first })
    const second = chat.send("two")
    await chat.cancel({ turn: first })
    expect((await second.result()).haltedReason).toBe("completed")
    const wrong = { turn: 3 } as unknown as { readonly turn: string }
    await expect(chat.cancel(wrong)).rejects.toMatchObject({ _tag: "ValidationError", reason: "invalid_options" })
  })
})
