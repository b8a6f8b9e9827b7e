import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { SessionError } from "../../src/errors/ChatError.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import * as Store from "../../src/store/Store.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, said, says } from "../double/scripts.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"

const check = leakCheck()

const lines = (chat: LocalChatRef) => chat.thread.messages.map(said)

const kept = async (store: SessionStore, id = "c") => (await store.load(id))?.thread.messages.map(said)

/** A Troupe whose model answers with one word after the other. */
const speaking = async (store: Store.Store, ...words: ReadonlyArray<string>) => {
  const made = await check.troupe({ adapter: check.fake({ scripts: words.map((word) => says(word)) }), store })
  return { ...made, chat: await made.troupe.chat("c") }
}

/** A Troupe whose model answers by hand. */
const held = async (store: Store.Store) => {
  const adapter = handAdapter()
  const made = await check.troupe({ adapter, store })
  const chat = await made.troupe.chat("c")
  const answer = async (place: number, text: string) => {
    await until(() => adapter.streams.length > place)
    adapter.streams[place]?.text(text)
    adapter.streams[place]?.finish("stop")
  }
  return { ...made, chat, adapter, answer }
}

/** What a turn failed with: its result says so, or it has none. */
const failureOf = async (result: Promise<ChatResult>): Promise<unknown> => {
  const came = await result.catch((error: unknown) => ({ metadata: { error } }))
  return came.metadata["error"]
}

const conflict = { _tag: "SessionError", reason: "store_conflict" }

describe("STORE7 what another program wrote is not written over", () => {
  test("an input that was sent in ignorance of it waits, and runs after it with the next one", async () => {
    const store = memory()
    const one = await speaking(store, "A1", "A2", "A3")
    const other = await speaking(store, "B1", "B2")
    await one.chat.send("a1").result()
    const before = await store.history("c")
    const turn = other.chat.send("b1")
    expect(await failureOf(turn.result())).toMatchObject(conflict)
    expect(await turn.receipt).toEqual({ status: "pending" })
    expect(await store.history("c")).toEqual(before)
    await until(() => other.chat.thread.messages.length === 2)
    await other.chat.send("b2").result()
    expect(await turn.delivery).toEqual({ status: "delivered" })
    expect(await kept(store)).toEqual(["a1", "A1", "b1", "B1", "b2", "B2"])
    expect(await failureOf(one.chat.send("a2").result())).toMatchObject(conflict)
    await one.chat.send("a3").result()
    expect(lines(one.chat)).toEqual(["a1", "A1", "b1", "B1", "b2", "B2", "a2", "A2", "a3", "A3"])
  })

  test("a turn that was under way ends with it, what it had stored stays said, and what came behind it waits", async () => {
    const store = memory()
    const one = await held(store)
    const turn = one.chat.send("a1")
    await until(() => one.adapter.streams.length === 1)
    expect(await turn.receipt).toEqual({ status: "delivered" })
    const other = await speaking(store, "B1")
    await other.chat.send("b1").result()
    const seen: Array<string | undefined> = []
    one.chat.subscribe(({ context }) => seen.push(said(context.thread.messages.at(-1))))
    const waiting = one.chat.send("a2")
    await one.answer(0, "A1")
    expect(await failureOf(turn.result())).toMatchObject(conflict)
    expect(await waiting.receipt).toEqual({ status: "pending" })
    await until(() => lines(one.chat).length === 3)
    const [again] = one.chat.resume()
    await one.answer(1, "A2")
    await again?.result()
    expect(await waiting.delivery).toEqual({ status: "delivered" })
    expect(lines(one.chat)).toEqual(["a1", "b1", "B1", "a2", "A2"])
    expect(await kept(store)).toEqual(lines(one.chat))
    expect(seen).toContain("B1")
  })

  test("an input that waited in the record is the other program's, and its turn ends", async () => {
    const store = memory()
    const one = await held(store)
    const turn = one.chat.send("a1")
    await until(() => one.adapter.streams.length === 1)
    const waiting = one.chat.send("a2")
    expect(await waiting.receipt).toEqual({ status: "pending" })
    const other = await speaking(store, "B1", "B2")
    const [taken] = other.chat.resume()
    await taken?.result()
    await one.answer(0, "A1")
    expect(await failureOf(turn.result())).toMatchObject(conflict)
    expect(await failureOf(waiting.result())).toMatchObject(conflict)
    await until(() => lines(one.chat).includes("B1"))
    await hop()
    expect(one.adapter.streams).toHaveLength(1)
    expect(lines(one.chat)).toEqual(["a1", "a2", "B1"])
  })

  test("a call that writes is not started when its intent comes too late", async () => {
    const store = memory()
    let runs = 0
    const pay = handling("pay", () => ok((runs += 1)))
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter, store, tools: [pay] })
    const chat = await troupe.chat("c")
    const turn = chat.send("pay")
    await until(() => adapter.streams.length === 1)
    await store.save({ id: "c", thread: { messages: [] }, usage: {}, running: false, pendingToolCalls: [] })
    adapter.streams[0]?.say({ type: "tool_call_completed", id: "c0", name: "pay", arguments: {}, rawArguments: "{}" })
    adapter.streams[0]?.finish("tool_calls")
    expect(await failureOf(turn.result())).toMatchObject(conflict)
    expect(runs).toBe(0)
    await until(() => lines(chat).length === 0)
    expect(await kept(store)).toEqual([])
  })

  test("a permission mode that comes too late is not kept, and the chat goes on from what is", async () => {
    const store = memory()
    const { chat } = await speaking(store, "A1")
    await store.save({ id: "c", thread: { messages: [] }, usage: {}, running: false, pendingToolCalls: [] })
    await expect(chat.setPermissionMode("plan")).rejects.toMatchObject(conflict)
    await until(() => chat.getSnapshot()?.context.permissionMode === "default")
    await chat.setPermissionMode("plan")
    expect((await store.load("c"))?.permissionMode?.mode).toBe("plan")
  })

  test("a conversation that was deleted elsewhere begins anew", async () => {
    const store = memory()
    const { chat } = await speaking(store, "A1", "A2", "A3")
    await chat.send("a1").result()
    await store.delete("c")
    expect(await failureOf(chat.send("a2").result())).toMatchObject(conflict)
    await chat.send("a3").result()
    expect(lines(chat)).toEqual(["a2", "A2", "a3", "A3"])
  })

  test("nor is one that another program deleted and began anew, though it has as many entries", async () => {
    const store = Store.memory()
    const one = await speaking(store, "A1", "A2", "A3")
    await one.chat.send("a1").result()
    const other = await speaking(store, "B1")
    await other.troupe.delete("c")
    await (await other.troupe.chat("c")).send("b1").result()
    expect(await failureOf(one.chat.send("a2").result())).toMatchObject(conflict)
    expect(await kept(store)).toEqual(["b1", "B1"])
    await one.chat.send("a3").result()
    expect(lines(one.chat)).toEqual(["b1", "B1", "a2", "A2", "a3", "A3"])
  })

  test("no conflict counts as a crash, however many there are", async () => {
    const store = memory()
    const { chat, troupe } = await speaking(store, "A1")
    for (let count = 0; count < 10; count++) {
      await store.save({ id: "c", thread: { messages: [] }, usage: {}, running: false, pendingToolCalls: [] })
      expect(await failureOf(chat.send("a", { id: "a" }).result())).toMatchObject(conflict)
      await troupe.chat("c")
    }
    await chat.send("a", { id: "a" }).result()
    expect(lines(chat)).toEqual(["a", "A1"])
  })
})

test("STORE4 a Troupe's own write that comes late is no conflict with what it wrote since", async () => {
  const inner = memory()
  const gates: Array<() => void> = []
  let isSlow = false
  const store: SavingStore = {
    ...inner,
    save: async (record, precondition) => {
      if (isSlow) await new Promise<void>((resolve) => void gates.push(resolve))
      return inner.save(record, precondition)
    }
  }
  const { chat, clock } = await speaking(store, "A1", "A2")
  await chat.send("a1").result()
  isSlow = true
  const late = chat.send("a2").result()
  await until(() => gates.length === 1)
  isSlow = false
  await clock.advance(5_000)
  expect(await failureOf(late)).toMatchObject({ reason: "store_failed" })
  await chat.send("a3").result()
  const newest = await kept(inner)
  gates[0]?.()
  await hop()
  expect(await kept(inner)).toEqual(newest)
  await chat.setPermissionMode("plan")
  expect((await inner.load("c"))?.permissionMode?.mode).toBe("plan")
})

describe("CONV1 history, entries and lists", () => {
  test("have what the chat has had saved", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2")
    await chat.send("a1").result()
    await chat.send("a2").result()
    const history = await troupe.history("c")
    expect(history.map(({ seq, kind }) => [seq, kind])).toEqual([1, 2, 3, 4].map((seq) => [seq, "saved"]))
    expect(await troupe.history("c", { after: 3, limit: 1 })).toEqual(history.slice(3))
    expect((await troupe.at("c", 2))?.thread.messages.map(said)).toEqual(["a1", "A1"])
    expect(await troupe.at("c", 5)).toBeUndefined()
    const { chats } = await troupe.list({ search: "A2" })
    expect(chats).toMatchObject([{ id: "c", title: "a1", seq: 4, messages: 4, running: false }])
  })

  test("are behind a save that is slow", async () => {
    const inner = memory()
    const { promise, resolve } = Promise.withResolvers<void>()
    const store: SavingStore = {
      ...inner,
      save: async (record, precondition) => {
        await promise
        return inner.save(record, precondition)
      }
    }
    const { chat, troupe } = await speaking(store, "A1")
    const turn = chat.send("a1").result()
    await hop()
    const history = troupe.history("c")
    await hop()
    resolve()
    expect(await history).toHaveLength(1)
    await turn
  })

  test("of a store that keeps the newest record only are refused", async () => {
    const records = new Map<string, Parameters<Store.RecordStore["save"]>[0]>()
    const store: Store.Store = {
      load: (id) => records.get(id),
      save: (record) => void records.set(record.id, record),
      delete: (id) => void records.delete(id)
    }
    const { chat, troupe } = await speaking(store, "A1")
    await chat.send("a1").result()
    const refused = { _tag: "SessionError", reason: "store_without_log" }
    await expect(troupe.history("c")).rejects.toMatchObject(refused)
    await expect(troupe.at("c", 1)).rejects.toMatchObject(refused)
    await expect(troupe.list()).rejects.toMatchObject(refused)
    await expect(troupe.fork("c")).rejects.toMatchObject(refused)
    await expect(troupe.rewind("c", 1)).rejects.toMatchObject(refused)
    expect(lines(chat)).toEqual(["a1", "A1"])
    await troupe.delete("c")
    expect(records.size).toBe(0)
  })

  test("fail with store_failed when the store does, and name options that make no sense", async () => {
    const store: SessionStore = {
      ...memory(),
      list: () => {
        throw new Error("disk")
      }
    }
    const { troupe } = await speaking(store)
    await expect(troupe.list()).rejects.toMatchObject({ _tag: "SessionError", reason: "store_failed" })
    await expect(troupe.history("c", { limit: 0 })).rejects.toMatchObject({ reason: "invalid_options" })
    await troupe.stop()
    await expect(troupe.history("c")).rejects.toBeInstanceOf(Error)
  })
})

describe("a fork", () => {
  test("is a chat of its own from the entry on, and the other goes on", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2", "B2", "A3")
    await chat.send("a1").result()
    await chat.send("a2").result()
    const fork = await troupe.fork("c", { at: 2 })
    expect(lines(fork)).toEqual(["a1", "A1"])
    expect(fork.id).not.toBe("c")
    await fork.send("b2").result()
    await chat.send("a3").result()
    expect(lines(fork)).toEqual(["a1", "A1", "b2", "B2"])
    expect(lines(chat)).toEqual(["a1", "A1", "a2", "A2", "a3", "A3"])
  })

  test("of a chat whose turn runs begins at what is stored, and leaves the turn alone", async () => {
    const { chat, troupe, adapter, answer } = await held(memory())
    const turn = chat.send("a1")
    await until(() => adapter.streams.length === 1)
    const fork = await troupe.fork("c", { id: "f" })
    expect([lines(fork), fork.getSnapshot()?.context.phase]).toEqual([["a1"], "interrupted"])
    await answer(0, "A1")
    await turn.result()
    const again = fork.retry()
    await answer(1, "F1")
    await again.result()
    expect([lines(chat), lines(fork)]).toEqual([
      ["a1", "A1"],
      ["a1", "F1"]
    ])
  })

  test("is refused where it cannot begin, and to an id that is taken or lives", async () => {
    const { chat, troupe } = await speaking(memory(), "A1")
    await expect(troupe.fork("c")).rejects.toMatchObject({ reason: "unknown_chat" })
    await chat.send("a1").result()
    await troupe.chat("lives")
    await expect(troupe.fork("c", { at: 9 })).rejects.toMatchObject({ reason: "unknown_commit" })
    await expect(troupe.fork("c", { id: "lives" })).rejects.toMatchObject({ reason: "chat_exists" })
    await expect(troupe.fork("c", { id: "" })).rejects.toMatchObject({ reason: "invalid_options" })
  })
})

describe("CONV2 a rewind", () => {
  test("has a living chat go on from the entry; its readers and observers get a snapshot", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2", "A3")
    await chat.send("a1").result()
    await chat.send("a2").result()
    const attached = chat.attach()
    const seen: Array<number> = []
    chat.subscribe(({ context }) => seen.push(context.thread.messages.length))
    await attached.next()
    const next = attached.next()
    const { pid } = chat
    expect(await troupe.rewind("c", 2)).toMatchObject({ id: "c", version: 5 })
    expect(lines(chat)).toEqual(["a1", "A1"])
    expect(seen.at(-1)).toBe(2)
    expect((await next).value).toMatchObject({ type: "snapshot" })
    expect(pid === undefined || Process.isAlive(pid)).toBe(false)
    await chat.send("a3").result()
    expect(lines(chat)).toEqual(["a1", "A1", "a3", "A3"])
    expect(await troupe.rewind("c", 4)).toMatchObject({ version: 8 })
    expect(lines(chat)).toEqual(["a1", "A1", "a2", "A2"])
    await attached.return()
  })

  test("to the entry 0 leads to the beginning: what is said then is said first", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2")
    await chat.send("a1", { id: "u1" }).result()
    expect(await troupe.rewind("c", 0)).toMatchObject({ id: "c", version: 3, thread: { messages: [] } })
    expect(lines(chat)).toEqual([])
    expect(chat.getSnapshot()?.context).toMatchObject({ phase: "idle", usage: {} })
    await chat.send("a2", { id: "u1" }).result()
    expect(lines(chat)).toEqual(["a2", "A2"])
    await troupe.rewind("c", 2)
    expect(lines(chat)).toEqual(["a1", "A1"])
  })

  test("takes nothing along of what the process knew, but the permission mode of now", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2")
    await chat.send("a1", { id: "u1" }).result()
    await chat.send("a2", { id: "u2" }).result()
    await chat.setPermissionMode("plan")
    await troupe.rewind("c", 2)
    expect(chat.getSnapshot()?.context).toMatchObject({ known: ["u1"], permissionMode: "plan" })
  })

  test("is refused while a turn runs, which goes on", async () => {
    const { chat, troupe, answer, adapter } = await held(memory())
    const turn = chat.send("a1")
    await until(() => adapter.streams.length === 1)
    await expect(troupe.rewind("c", 1)).rejects.toMatchObject({ _tag: "SessionError", reason: "busy" })
    await answer(0, "A1")
    await turn.result()
    expect(lines(chat)).toEqual(["a1", "A1"])
  })

  test("cancels the turn when it is to; what waits behind it runs in the thread as it is then", async () => {
    const { chat, troupe, answer, adapter } = await held(memory())
    const first = chat.send("a1")
    await answer(0, "A1")
    await first.result()
    const running = chat.send("a2")
    await until(() => adapter.streams.length === 2)
    const waiting = chat.send("a3")
    expect(await waiting.receipt).toEqual({ status: "pending" })
    await troupe.rewind("c", 2, { cancel: true })
    expect((await running.result()).haltedReason).toBe("cancelled")
    await answer(2, "A3")
    await waiting.result()
    expect(lines(chat)).toEqual(["a1", "A1", "a3", "A3"])
    expect(await waiting.delivery).toEqual({ status: "delivered" })
  })

  test("of what is not there, or where a step was open, disturbs nobody", async () => {
    const pay = handling("pay", () => ok(null))
    const adapter = check.fake({ scripts: [calls("pay"), says("Paid.")] })
    const { troupe } = await check.troupe({ adapter, tools: [pay], store: memory() })
    const chat = await troupe.chat("c")
    await chat.send("Pay").result()
    const { pid } = chat
    const open = (await troupe.history("c")).find(({ isStep }) => !isStep)
    expect(open).toBeDefined()
    await expect(troupe.rewind("c", open?.seq ?? 0)).rejects.toMatchObject({ reason: "not_a_step" })
    for (const seq of [-1, 1.5, 99]) {
      await expect(troupe.rewind("c", seq)).rejects.toMatchObject({ reason: "unknown_commit" })
    }
    await expect(troupe.rewind("c", undefined as never)).rejects.toThrow("seq: must_be_the number of an entry")
    await expect(troupe.rewind("nobody", 1)).rejects.toMatchObject({ reason: "unknown_chat" })
    expect(chat.pid).toBe(pid)
  })

  test("that the store fails with leaves the chat where it was, in a process of its own", async () => {
    const inner = memory()
    const store: SessionStore = {
      ...inner,
      rewind: () => {
        throw new Error("disk")
      }
    }
    const { chat, troupe } = await speaking(store, "A1", "A2")
    await chat.send("a1").result()
    await expect(troupe.rewind("c", 1)).rejects.toMatchObject({ reason: "store_failed" })
    await chat.send("a2").result()
    expect(lines(chat)).toEqual(["a1", "A1", "a2", "A2"])
  })

  test("of a chat that does not live is one of its conversation", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2")
    await chat.send("a1").result()
    await chat.send("a2").result()
    await chat.stop()
    await troupe.rewind("c", 2)
    expect(lines(await troupe.chat("c"))).toEqual(["a1", "A1"])
  })

  test("of a chat that rests, and that somebody holds, is seen by who holds it", async () => {
    const adapter = check.fake({ scripts: [says("A1"), says("A2")] })
    const { troupe, clock } = await check.troupe({ adapter, store: memory(), passivateAfterMs: 1_000 })
    const chat = await troupe.chat("c")
    await chat.send("a1").result()
    await chat.send("a2").result()
    await clock.advance(2_000)
    expect(chat.pid).toBeUndefined()
    await troupe.rewind("c", 2)
    expect(lines(chat)).toEqual(["a1", "A1"])
  })

  test("comes one after another, however many are asked for at once", async () => {
    const { chat, troupe } = await speaking(memory(), "A1", "A2", "A3")
    await chat.send("a1").result()
    await chat.send("a2").result()
    await Promise.all([troupe.rewind("c", 2), troupe.rewind("c", 4), troupe.rewind("c", 2)])
    expect((await troupe.history("c")).map(({ from }) => from?.seq).slice(4)).toEqual([2, 4, 2])
    expect(lines(chat)).toEqual(["a1", "A1"])
  })
})

describe("deleting", () => {
  test("stops the chat and removes all there is of it", async () => {
    const store = memory()
    const { chat, troupe, adapter } = await held(store)
    const turn = chat.send("a1").result()
    await until(() => adapter.streams.length === 1)
    await Promise.all([troupe.delete("c"), expect(turn).rejects.toBeInstanceOf(SessionError)])
    expect([await store.load("c"), await store.history("c")]).toEqual([undefined, []])
    expect(lines(await troupe.chat("c"))).toEqual([])
    await troupe.delete("never there")
  })
})

describe("STORE8 a time to live", () => {
  const living = async () => {
    const { system, clock } = check.system()
    const store = memory({ clock, ttlMs: 90_000 })
    const { Troupe } = await import("../../src/troupe/Troupe.ts")
    const adapter = check.fake({ scripts: [says("A1"), says("B1")] })
    const troupe: RunningTroupe = await Troupe.start({ adapter, store, system })
    return { store, clock, troupe, system }
  }

  test("deletes each minute what is over, but for what lives here", async () => {
    const { store, clock, troupe } = await living()
    for (const id of ["rests", "lives"]) await (await troupe.chat(id)).send("hi").result()
    await (await troupe.chat("rests")).stop()
    await clock.advance(60_000)
    expect((await store.list()).chats).toHaveLength(2)
    await clock.advance(60_000)
    expect((await store.list()).chats.map(({ id }) => id)).toEqual(["lives"])
    await (await troupe.chat("lives")).stop()
    await clock.advance(60_000)
    expect((await store.list()).chats).toEqual([])
    await troupe.stop()
  })

  test("keeps no program alive, and no clock waiting", async () => {
    const { clock, troupe } = await living()
    expect(clock.pending).toBe(0)
    await troupe.stop()
    const { Troupe } = await import("../../src/troupe/Troupe.ts")
    const hostTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
    const before = hostTimers()
    const alive = await Troupe.start({ adapter: check.fake({ script: [] }), store: memory({ ttlMs: 90_000 }) })
    expect(hostTimers()).toBeLessThanOrEqual(before)
    await alive.stop()
  })
})
