import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { memory, type SavingStore } from "../double/savingStore.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, said, says } from "../double/scripts.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const manual = make({ name: "manual", manual: true })
const guarded = make({ name: "pay", handler: () => ok("paid") })
const ask = make({ name: "ask", handler: () => askUser("Which one?") })
const asksFirst = {
  permissions: {
    ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
      toolCall.name === "pay" ? ("suspend" as const) : ("allow" as const)
  }
}

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: { readonly reason?: unknown }) => error.reason ?? error
  )

const rowsOf = async (store: SessionStore, id = "c"): Promise<ReadonlyArray<string>> =>
  ((await store.load(id))?.inbox ?? []).map((input) => input.id)

/** A store in memory whose next save fails. */
const failing = () => {
  const store = memory()
  let isFailing = false
  const save: SavingStore["save"] = (...args) => {
    if (!isFailing) return store.save(...args)
    isFailing = false
    throw new Error("disk full")
  }
  return { store: { ...store, save }, fail: () => void (isFailing = true) }
}

describe("CHAT18, REF11 `withdraw`", () => {
  test("removes a message that waits behind an approval, and settles its result", async () => {
    const store = memory()
    const adapter = check.fake({ scripts: [calls("pay"), says("done"), says("never")] })
    const { troupe } = await check.troupe({ adapter, store, tools: [guarded], ...asksFirst })
    const chat = await troupe.chat("c")
    const first = chat.send("go")
    const behind = chat.send("And?", { id: "behind" })
    await first.result()
    expect(await behind.receipt).toEqual({ status: "pending" })
    expect(await rowsOf(store)).toEqual(["behind"])
    await chat.withdraw(behind)
    expect(await rowsOf(store)).toEqual([])
    expect(await reasonOf(behind.result())).toBe("withdrawn")
    expect(await behind.delivery).toMatchObject({ status: "rejected", reason: "withdrawn" })
    expect((await chat.view()).inbox).toEqual([])
    expect((await chat.approve("c0", { type: "allow" }).result()).haltedReason).toBe("completed")
    await hop()
    expect(adapter.requests).toHaveLength(2)
    expect(await reasonOf(chat.withdraw("behind"))).toBe("unknown_input")
    const again = chat.send("And again?", { id: "behind" })
    expect((await again.result()).finalResponse?.outputText).toBe("never")
  })

  test("removes a queued message while a turn runs, at each moment, and the turn goes on", async () => {
    for (const whenBusy of ["queue", "steer"] as const) {
      for (let moment = 0; moment < 16; moment++) {
        const store = memory()
        const adapter = handAdapter()
        const { troupe } = await check.troupe({ adapter, store })
        const chat = await troupe.chat("c")
        const running = chat.send("one")
        const second = chat.send("two", { id: "second", whenBusy })
        for (let turn = 0; turn < moment; turn++) await Promise.resolve()
        const withdrawn = reasonOf(chat.withdraw("second"))
        await until(() => adapter.streams.length === 1)
        adapter.streams[0]?.finish("stop")
        const reason = await withdrawn
        expect(["no error", "already_delivered"]).toContain(reason)
        if (reason === "no error") {
          expect(await reasonOf(second.result())).toBe("withdrawn")
          await running.result()
          await hop()
          expect(adapter.streams).toHaveLength(1)
        } else {
          await until(() => second.over || adapter.streams.length === 2)
          adapter.streams[1]?.finish("stop")
          await second.result()
        }
        expect(await rowsOf(store)).toEqual([])
        await troupe.stop()
      }
    }
  })

  test("removes a message that a former program left, also when its process died meanwhile", async () => {
    const store = memory()
    await store.accept("c", { id: "left", whenBusy: "queue", message: { role: "user", content: "left" } })
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("a")] }), store })
    const chat = await troupe.chat("c")
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await chat.withdraw("left")
    expect(await rowsOf(store)).toEqual([])
    expect(chat.resume()).toEqual([])
    await chat.send("go").result()
    expect(chat.thread.messages.map(said)).toEqual(["go", "a"])
  })

  test("is refused for an input in the thread, for an unknown one, and for what is no id", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("a")] }), store: memory() })
    const chat = await troupe.chat("c")
    const turn = chat.send("go", { id: "in" })
    await turn.result()
    expect(await reasonOf(chat.withdraw(turn))).toBe("already_delivered")
    expect(await reasonOf(chat.withdraw("none"))).toBe("unknown_input")
    expect(await reasonOf(chat.withdraw(""))).toBe("invalid_options")
  })

  test("is refused for an input whose turn runs, and the error names the cancel of that turn", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: memory() })
    const chat = await troupe.chat("c")
    const first = chat.send("go")
    await until(() => adapter.streams.length === 1)
    const joined = chat.send("more", { whenBusy: "steer", id: "joined" })
    adapter.streams[0]?.finish("stop")
    await until(() => adapter.streams.length === 2)
    for (const turn of [first, joined]) {
      const message = expect.stringContaining(`cancel({ turn: "${turn.id}" })`) as string
      await expect(chat.withdraw(turn)).rejects.toMatchObject({ reason: "already_delivered", message })
    }
    await chat.cancel({ turn: joined })
    expect((await first.result()).haltedReason).toBe("cancelled")
    const message = expect.stringContaining("its turn is over") as string
    await expect(chat.withdraw(joined)).rejects.toMatchObject({ reason: "already_delivered", message })
  })

  test("leaves nothing to retry: a retry behind a first commit that failed is refused, and sends no request", async () => {
    const { store: failingStore, fail } = failing()
    const gate = Promise.withResolvers<void>()
    let isHeld = true
    const save: SavingStore["save"] = async (...args) => {
      if (isHeld) await gate.promise
      return failingStore.save(...args)
    }
    fail()
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store: { ...failingStore, save } })
    const chat = await troupe.chat("c")
    const first = chat.send("go", { id: "first" })
    await until(() => chat.getSnapshot()?.context.phase === "committing")
    const again = chat.retry()
    void first.result()
    gate.resolve()
    await until(() => chat.getSnapshot()?.context.phase !== "committing")
    isHeld = false
    expect(await reasonOf(again.result())).toBe("nothing_to_retry")
    expect(adapter.streams).toHaveLength(0)
    await chat.withdraw("first")
  })

  test("holds the input when the store fails, and `withdraw` works again", async () => {
    const { store, fail } = failing()
    const adapter = check.fake({ scripts: [calls("manual"), says("a")] })
    const { troupe } = await check.troupe({ adapter, store, tools: [manual] })
    const chat = await troupe.chat("c")
    const first = chat.send("go")
    const behind = chat.send("And?", { id: "behind" })
    await first.result()
    await behind.receipt
    fail()
    expect(await reasonOf(chat.withdraw("behind"))).toBe("store_failed")
    expect((await chat.view()).inbox.map(({ id }) => id)).toEqual(["behind"])
    await chat.withdraw("behind")
    expect(await rowsOf(store)).toEqual([])
  })

  test("`cancel` of a turn whose input waits withdraws it", async () => {
    const adapter = check.fake({ scripts: [calls("manual")] })
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [manual] })
    const chat = await troupe.chat("c")
    const first = chat.send("go")
    const behind = chat.send("And?")
    await first.result()
    await behind.receipt
    await chat.cancel({ turn: behind })
    expect(await reasonOf(behind.result())).toBe("withdrawn")
    expect((await chat.view()).phase).toBe("awaitingTools")
  })
})

describe("CHAT17, REF10 `cancel` of a wait", () => {
  const outcomes = (chat: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
    chat.thread.messages.flatMap((message) => ("outcome" in message ? [message.outcome] : []))

  test.each([
    ["a client's tool", calls("manual"), "awaitingTools"],
    ["an approval", calls("pay"), "awaitingApproval"],
    ["an answer", calls("ask"), "awaitingUser"],
    ["results and an answer", calls("manual", "ask"), "awaitingTools"],
    ["results and an approval", calls("manual", "pay"), "awaitingApproval"]
  ] as const)("ends a wait for %s: its calls are `cancelled`, and the next message runs", async (_, script, state) => {
    const store = memory()
    const adapter = check.fake({ scripts: [script, says("went on")] })
    const { troupe } = await check.troupe({ adapter, store, tools: [manual, guarded, ask], ...asksFirst })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    expect(chat.getSnapshot()?.value).toBe(state)
    await chat.cancel()
    expect(chat.getSnapshot()?.value).toBe("idle")
    const count = script.length - 1
    expect(outcomes(chat)).toEqual(Array.from({ length: count }, () => "cancelled"))
    expect((await store.load("c"))?.lastHaltedReason).toBe("cancelled")
    expect((await store.load("c"))?.pendingQuestion ?? undefined).toBeUndefined()
    expect((await chat.send("And?").result()).finalResponse?.outputText).toBe("went on")
    await chat.cancel()
  })

  test("runs the message that waits behind it next, and ends a wait after a restart", async () => {
    const store = memory()
    const adapter = check.fake({ scripts: [calls("pay"), says("next")] })
    const options = { adapter, store, tools: [guarded], ...asksFirst }
    const first = await check.troupe(options)
    const before = await first.troupe.chat("c")
    const going = before.send("go")
    await before.send("And?", { id: "behind" }).receipt
    await going.result()
    await first.troupe.stop()
    const { troupe } = await check.troupe(options)
    const chat = await troupe.chat("c")
    const [behind] = chat.resume()
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await chat.cancel()
    expect((await behind?.result())?.finalResponse?.outputText).toBe("next")
  })

  test("rejects when the store fails, and the next turn stores the end", async () => {
    const { store, fail } = failing()
    const adapter = check.fake({ scripts: [calls("pay"), says("next")] })
    const { troupe } = await check.troupe({ adapter, store, tools: [guarded], ...asksFirst })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    fail()
    expect(await reasonOf(chat.cancel())).toBe("store_failed")
    await chat.send("And?").result()
    const record = await store.load("c")
    expect(record?.open).toBeUndefined()
    expect(record?.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"])
  })

  test("does not end a turn that an answer began before it", async () => {
    const adapter = check.fake({ scripts: [calls("manual"), says("went on")] })
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [manual] })
    const chat = await troupe.chat("c")
    const first = chat.send("go")
    await first.result()
    const answered = chat.submitToolResults({ c0: "yes" })
    await chat.cancel({ turn: first })
    expect((await answered.result()).haltedReason).toBe("completed")
  })
})

test("CHAT17 a call that began before a crash stays `unknown` when its wait is cancelled", async () => {
  const store = memory()
  const pay = handling("pay", () => new Promise(() => {}))
  const adapter = check.fake({ scripts: [calls("pay"), says("next")] })
  const { troupe } = await check.troupe({ adapter, store, tools: [pay] })
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  if (chat.pid !== undefined) Process.kill(chat.pid)
  await until(() => running.over && chat.getSnapshot()?.value === "awaitingApproval")
  await chat.cancel()
  const record = await store.load("c")
  expect(record?.thread.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "c0", outcome: "unknown" })
})
