import { describe, expect, test } from "vitest"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { memory } from "../../src/store/Store.ts"
import { make } from "../../src/tool/Tool.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"

const check = leakCheck()

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: { readonly reason?: unknown }) => error.reason ?? error
  )

const tools = [
  make({ name: "pay", handler: () => ok("paid") }),
  make({ name: "manual", manual: true }),
  make({ name: "ask", handler: () => askUser("Which one?") })
]

const permissions = {
  ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
    toolCall.name === "pay" ? ("suspend" as const) : ("allow" as const)
}

/** A program with the chat `c` of this store. */
const program = async (store: SessionStore, ...scripts: ReadonlyArray<ReturnType<typeof says>>) => {
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts }), store, tools, permissions })
  return troupe.chat("c")
}

/** Two programs: the chat waits for what `tool` asks for, which the first one has not seen. */
const behind = async (tool: string) => {
  const store = memory()
  const stale = await program(store, says("again"), says("more"))
  const chat = await program(store, calls(tool), says("done"), says("next"))
  await chat.send("go", { id: "go" }).result()
  return { store, stale, chat }
}

/** Two programs: both have seen the chat wait for what `tool` asks for, and the second one has gone on. */
const ahead = async (tool: string) => {
  const store = memory()
  const chat = await program(store, calls(tool), says("done"), says("next"))
  await chat.send("go", { id: "go" }).result()
  const stale = await program(store, says("again"), says("more"))
  await (tool === "pay"
    ? chat.approve("c0", { type: "allow" }).result()
    : tool === "manual"
      ? chat.submitToolResults({ c0: "given" }).result()
      : chat.send("this").result())
  return { store, stale, chat }
}

const texts = async (store: SessionStore) => (await store.load("c"))?.thread.messages.map(said)

const waits = ["pay", "manual", "ask"]

describe("REF13 a program reads the record again before a verb has no effect, is refused, or waits:", () => {
  test.each(waits)("a cancel ends the wait for `%s` that another program has begun", async (tool) => {
    const { stale, store } = await behind(tool)
    await stale.cancel()
    const { open, pendingToolCalls, status } = (await store.load("c")) ?? {}
    expect({ open, pendingToolCalls, status }).toMatchObject({ open: undefined, pendingToolCalls: [] })
    expect((await stale.view()).phase).toBe("idle")
    await stale.send("And?").result()
    expect((await texts(store))?.slice(-2)).toEqual(["And?", "again"])
  })

  test.each(waits)("a cancel of the turn that waits for `%s` in another program ends that wait", async (tool) => {
    const { stale } = await behind(tool)
    await stale.cancel({ turn: "go" })
    expect((await stale.view()).phase).toBe("idle")
  })

  test.each(waits)("a cancel of a wait for `%s` that has passed resolves, and ends nothing", async (tool) => {
    const { stale, store } = await ahead(tool)
    const before = await texts(store)
    await stale.cancel()
    expect(await texts(store)).toEqual(before)
    expect((await stale.view()).phase).toBe("idle")
  })

  test("a cancel of an unknown turn is refused", async () => {
    const { stale } = await behind("pay")
    expect(await reasonOf(stale.cancel({ turn: "none" }))).toBe("unknown_input")
    expect((await stale.view()).phase).toBe("awaitingApproval")
  })

  test("a decision is for the wait that another program has begun", async () => {
    const { stale, store } = await behind("pay")
    expect((await stale.approve("c0", { type: "allow" }).result()).finalResponse?.outputText).toBe("again")
    expect(await texts(store)).toEqual(["go", "", "paid", "again"])
  })

  test("results that are refused for an unknown call are accepted once the record was read", async () => {
    const { stale, store } = await behind("manual")
    expect(() => stale.submitToolResults({ c0: "given" })).toThrow("does not wait for a call c0")
    await stale.cancel({ turn: "none" }).catch(() => {})
    expect((await stale.submitToolResults({ c0: "given" }).result()).finalResponse?.outputText).toBe("again")
    expect(await texts(store)).toEqual(["go", "", "given", "again"])
  })

  test.each(["pay", "manual"])("a message is not refused for a wait for `%s` that has passed", async (tool) => {
    const { stale, store } = await ahead(tool)
    expect((await stale.send("And?").result()).finalResponse?.outputText).toBe("again")
    expect((await texts(store))?.slice(-3)).toEqual(["done", "And?", "again"])
  })

  test.each(["pay", "manual"])(
    "a message is refused while the chat waits for `%s`, and is not stored",
    async (tool) => {
      const { stale, store } = await behind(tool)
      await stale.cancel({ turn: "none" }).catch(() => {})
      const turn = stale.send("And?")
      expect(await reasonOf(turn.result())).toBe(tool === "pay" ? "awaiting_approval" : "awaiting_tool_results")
      expect(await turn.receipt).toMatchObject({ status: "rejected" })
      expect((await store.load("c"))?.inbox ?? []).toEqual([])
    }
  )

  test("a retry is not refused for a wait that has passed", async () => {
    const { stale } = await ahead("pay")
    expect((await stale.retry().result()).finalResponse?.outputText).toBe("again")
  })

  test("an input that waits behind a wait of another program is withdrawn", async () => {
    const store = memory()
    const stale = await program(store, says("again"))
    const chat = await program(store, calls("pay"), says("done"))
    const turn = chat.send("go")
    chat.send("And?", { id: "u2" })
    await turn.result()
    await stale.withdraw("u2")
    expect((await store.load("c"))?.inbox ?? []).toEqual([])
    expect(await reasonOf(stale.withdraw("u3"))).toBe("unknown_input")
  })

  test("an input that another program has run is not withdrawn", async () => {
    const store = memory()
    const chat = await program(store, calls("pay"), says("done"), says("next"))
    const turn = chat.send("go")
    const second = chat.send("And?", { id: "u2" })
    await turn.result()
    const stale = await program(store, says("again"))
    await chat.approve("c0", { type: "allow" }).result()
    await second.result()
    expect(await reasonOf(stale.withdraw("u2"))).toBe("already_delivered")
    expect((await texts(store))?.slice(-2)).toEqual(["And?", "next"])
  })

  test("inputs that another program has accepted, and left, are resumed", async () => {
    const store = memory()
    const stale = await program(store, says("again"))
    await store.accept("c", { id: "u2", whenBusy: "queue", message: { role: "user", content: "And?" }, named: true })
    stale.resume()
    await expect.poll(() => texts(store)).toEqual(["And?", "again"])
  })
})

describe("REF14 a program reads the newest entry before it shows a chat at rest:", () => {
  test.each(waits)("its view has the wait for `%s` that another program has begun", async (tool) => {
    const { stale, chat } = await behind(tool)
    expect((await stale.view()).phase).toBe((await chat.view()).phase)
    expect((await stale.view()).messages.map(({ role }) => role)).toContain("user")
  })

  test.each(waits)("its view has no wait for `%s` that another program has ended", async (tool) => {
    const { stale } = await ahead(tool)
    expect((await stale.view()).phase).toBe("idle")
  })

  test("its view has nothing of a conversation that another program has deleted", async () => {
    const store = memory()
    const chat = await program(store, says("one"))
    await chat.send("go").result()
    const stale = await program(store)
    expect((await stale.view()).messages).toHaveLength(2)
    await store.delete("c")
    expect((await stale.view()).messages).toHaveLength(0)
  })

  test("a reader gets the messages of another program without a verb", async () => {
    const { stale } = await behind("pay")
    for await (const item of stale.attach()) {
      if (item.type === "snapshot" && item.snapshot.context.phase === "awaitingApproval") break
    }
    expect((await stale.view()).phase).toBe("awaitingApproval")
  })

  test("a view of a chat that is up to date reads two entries at most, and keeps the process", async () => {
    const store = memory()
    const asked: Array<unknown> = []
    const chat = await program(
      { ...store, history: (id, options) => (asked.push(options), store.history(id, options)) },
      says("one"),
      says("two")
    )
    expect((await chat.view()).phase).toBe("idle")
    await chat.send("go").result()
    const { pid } = chat
    await chat.view()
    expect(asked).toEqual([
      { after: 0, limit: 2 },
      { after: 1, limit: 2 }
    ])
    expect(chat.pid).toBe(pid)
  })

  test("a view does not fail with the store", async () => {
    const store = memory()
    const chat = await program({ ...store, history: () => Promise.reject(new Error("gone")) }, says("one"))
    await chat.send("go").result()
    expect((await chat.view()).messages).toHaveLength(2)
  })
})
