import { Clock } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { make } from "../../src/tool/Tool.ts"
import * as Store from "../../src/store/Store.ts"
import type { Home, SessionStore } from "../../src/store/sessionStore.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"

const check = leakCheck()

/** A home of which a test sets the epoch, the key of every conversation being `k`. */
class HandHome implements Home {
  epoch: number | undefined
  isConfirmed = true
  constructor(epoch?: number) {
    this.epoch = epoch
  }

  fenceOf(): Store.Fence | undefined {
    return this.epoch === undefined ? undefined : { key: "k", epoch: this.epoch }
  }

  mayAct(): boolean {
    return this.epoch !== undefined && this.isConfirmed
  }
}

/** A program over the store, with a tool `pay` that writes. */
const program = async (store: SessionStore, home: Home, options: Partial<TroupeOptions> = {}) => {
  const paid: Array<string> = []
  const pay = make({
    name: "pay",
    effect: "write",
    handler: () => {
      paid.push("pay")
      return ok("paid")
    }
  })
  const adapter = check.fake({
    respond: ({ messages }): Script => {
      const text = said(messages.at(-1))
      return text === "pay" ? calls("pay") : text === "hang" ? [{ text: "so far" }, { hang: true }] : says(`re ${text}`)
    }
  })
  const { troupe } = await check.troupe({ adapter, tools: [pay], store, home, ...options })
  return { troupe, paid }
}

/** What the store has of the conversation. */
const stored = async (store: SessionStore, id: string) => [
  await store.load(id),
  (await store.history(id, { limit: 1_000 })).length
]

describe("HOME1 with a home", () => {
  test("every kind of write names the fence of its conversation", async () => {
    const inner = memory()
    const seen: Array<readonly [string, Store.Fence | undefined]> = []
    const noting: SavingStore = {
      ...inner,
      save: (record, condition) => {
        seen.push(["save", condition?.fence])
        return inner.save(record, condition)
      },
      accept: (id, input, fence) => {
        seen.push(["accept", fence])
        return inner.accept(id, input, fence)
      },
      keepDraft: (id, text, after, fence) => {
        seen.push(["keepDraft", fence])
        return inner.keepDraft(id, text, after, fence)
      },
      fork: (id, to, at, fence) => {
        seen.push(["fork", fence])
        return inner.fork(id, to, at, fence)
      },
      rewind: (id, seq, condition) => {
        seen.push(["rewind", condition?.fence])
        return inner.rewind(id, seq, condition)
      },
      delete: (id, fence) => {
        seen.push(["delete", fence])
        return inner.delete(id, fence)
      }
    }
    const { troupe, paid } = await program(noting, new HandHome(3))
    const chat = await troupe.chat("a")
    await chat.send("pay").result()
    await chat.setPermissionMode("plan")
    await troupe.begin([], { id: "b" })
    await troupe.fork("a", { id: "c" })
    await troupe.rewind("a", 1, { cancel: true })
    await troupe.rewind("c", 1)
    const hanging = await troupe.chat("d")
    hanging.send("hang")
    await until(() => hanging.getSnapshot()?.context.partial.text === "so far")
    await hanging.send("waits").receipt
    await hanging.leave()
    await troupe.delete("b")
    expect(paid).toEqual(["pay"])
    expect(new Set(seen.map(([kind]) => kind)).size).toBe(6)
    expect(seen.filter(([, fence]) => fence?.key !== "k" || fence.epoch !== 3)).toEqual([])
  })

  test("a conversation of another home is not loaded, written or deleted; it is read from the store", async () => {
    const store = memory()
    const home = new HandHome(1)
    const { troupe } = await program(store, home)
    await (await troupe.chat("a")).send("one").result()
    await (await troupe.chat("a")).stop()
    home.epoch = undefined
    const before = await stored(store, "a")
    for (const id of ["a", "new"]) await expect(troupe.chat(id)).rejects.toMatchObject({ reason: "moved" })
    for (const write of [
      () => troupe.begin([], { id: "new" }),
      () => troupe.fork("a", { id: "new" }),
      () => troupe.rewind("a", 1),
      () => troupe.delete("a")
    ]) {
      await expect(write()).rejects.toMatchObject({ _tag: "SessionError", reason: "store_fenced" })
    }
    expect(await stored(store, "a")).toEqual(before)
    expect([await troupe.has("a"), (await troupe.history("a")).length, (await troupe.list()).chats.length]).toEqual([
      true,
      before[1],
      1
    ])
  })

  test("a new conversation without an id gets one whose home is here", async () => {
    const own = { fenceOf: (id: string) => (Store.bucketOf(id) % 64 === 7 ? { key: "k", epoch: 1 } : undefined) }
    const { troupe } = await program(memory(), { ...own, mayAct: () => true })
    const chat = await troupe.begin([])
    expect(Store.bucketOf(chat.id) % 64).toBe(7)
    expect((await chat.send("one").result()).haltedReason).toBe("completed")
  })

  test("a chat of an older epoch leaves when it is requested under a newer one", async () => {
    const store = memory()
    const home = new HandHome(1)
    const { troupe } = await program(store, home)
    const chat = await troupe.chat("a")
    const turn = chat.send("hang")
    await until(() => chat.getSnapshot()?.context.partial.text === "so far")
    await store.claim("k", 2)
    home.epoch = 2
    const again = await troupe.chat("a")
    expect(again).not.toBe(chat)
    await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
    await expect(chat.send("one").result()).rejects.toMatchObject({ reason: "moved" })
    expect((await again.view()).phase).toBe("interrupted")
    expect((await again.send("two").result()).haltedReason).toBe("completed")
  })

  test("a store without a log, and an object that is no home, are refused", async () => {
    const plain = { load: () => undefined, save: () => {}, delete: () => {} }
    const adapter = check.fake({ script: says("Hi.") })
    for (const options of [{ store: plain, home: new HandHome(1) }, { home: { fenceOf: 1 } as unknown as Home }]) {
      await expect(check.troupe({ adapter, ...options })).rejects.toMatchObject({ reason: "invalid_options" })
    }
  })
})

describe("HOME2 when the store refuses a write because of its fence", () => {
  /** A chat during a reply, whose home is taken by an epoch of another program. */
  const taken = async () => {
    const store = memory()
    const made = await program(store, new HandHome(1))
    const chat = await made.troupe.chat("a")
    await chat.send("one").result()
    await store.claim("k", 2)
    return { ...made, store, chat, before: await stored(store, "a") }
  }

  test("as it accepts an input, the chat leaves: the turn, the readers and the observers get `moved`", async () => {
    const { troupe, store, chat, before } = await taken()
    const reader = chat.attach()
    await reader.next()
    const next = reader.next()
    const ended = Promise.withResolvers<void>()
    chat.subscribe({ complete: ended.resolve })
    const turn = chat.send("two", { id: "i2" })
    await expect(turn.result()).rejects.toMatchObject({ _tag: "SessionError", reason: "moved" })
    await expect(next).rejects.toMatchObject({ reason: "moved" })
    await ended.promise
    expect([chat.pid, chat.getSnapshot()?.context.phase]).toEqual([undefined, "moved"])
    expect(await turn.receipt).toMatchObject({ status: "rejected" })
    expect(await stored(store, "a")).toEqual(before)
    expect(troupe.isAlive("a")).toBe(false)
  })

  test("as it stores an intent, the handler does not start, and no reader sees an end of the turn", async () => {
    const store = memory()
    const home = new HandHome(1)
    const claiming: SavingStore = {
      ...store,
      save: (record, condition) => {
        if (record.open !== undefined) void store.claim("k", 2)
        return store.save(record, condition)
      }
    }
    const { troupe, paid } = await program(claiming, home)
    const chat = await troupe.chat("a")
    const turn = chat.send("pay")
    const types: Array<string> = []
    const reading = async () => {
      for await (const event of turn) types.push(event.type)
    }
    await expect(reading()).rejects.toMatchObject({ reason: "moved" })
    expect([types.includes("chat_completed"), types.includes("error"), paid]).toEqual([false, false, []])
    const other = await program(store, new HandHome(2))
    const again = await other.troupe.chat("a")
    expect((await again.view()).phase).toBe("interrupted")
    await again.retry().result()
    expect([paid, other.paid]).toEqual([[], ["pay"]])
  })

  test("as it stores a permission mode, the caller gets `moved`", async () => {
    const { chat, store, before } = await taken()
    await expect(chat.setPermissionMode("plan")).rejects.toMatchObject({ reason: "moved" })
    expect([chat.pid, await stored(store, "a")]).toEqual([undefined, before])
  })

  test("as it is rewound, the caller gets `store_fenced`, and nothing is written", async () => {
    const { troupe, store, before } = await taken()
    await expect(troupe.rewind("a", 1)).rejects.toMatchObject({ reason: "store_fenced" })
    await hop()
    expect(await stored(store, "a")).toEqual(before)
  })

  test("its late draft is dropped", async () => {
    const store = memory()
    const { troupe } = await program(store, new HandHome(1))
    const chat = await troupe.chat("a")
    chat.send("hang")
    await until(() => chat.getSnapshot()?.context.partial.text === "so far")
    await store.claim("k", 2)
    await chat.leave()
    expect((await store.load("a"))?.draft).toBeUndefined()
  })

  test("a save that fails while `mayAct` is false ends the chat in the same way", async () => {
    const store = memory()
    const home = new HandHome(1)
    let isBroken = false
    const broken: SavingStore = {
      ...store,
      save: (record, condition) => {
        if (isBroken) throw new Error("unreachable")
        return store.save(record, condition)
      }
    }
    const { troupe } = await program(broken, home)
    const chat = await troupe.chat("a")
    await chat.send("one").result()
    isBroken = true
    expect((await chat.send("two").result()).haltedReason).toBe("error")
    home.isConfirmed = false
    await expect(chat.send("three").result()).rejects.toMatchObject({ reason: "moved" })
  })
})

describe("HOME3 when `mayAct` is false before a handler", () => {
  test.each(["write", "read"] as const)("a call that may %s does not start, and the chat leaves", async (effect) => {
    const store = memory()
    const home = new HandHome(1)
    let ran = 0
    const pay = make({
      name: "pay",
      effect,
      handler: () => {
        ran += 1
        return ok("paid")
      }
    })
    const { troupe } = await program(store, home, { tools: [pay] })
    const chat = await troupe.chat("a")
    home.isConfirmed = false
    const turn = chat.send("pay")
    await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
    expect([ran, chat.pid, chat.getSnapshot()?.context.phase]).toEqual([0, undefined, "moved"])
    const record = await store.load("a")
    expect(record?.running).toBe(true)
    home.isConfirmed = true
    const again = await troupe.chat("a")
    const { phase } = await again.view()
    expect(phase).toBe(effect === "write" ? "awaitingApproval" : "interrupted")
  })

  test("it is asked after the arguments are checked, in the turn of the event loop in which the handler would run", async () => {
    const home = new HandHome(1)
    const gate = Promise.withResolvers<void>()
    let ran = 0
    const slow = z.object({}).refine(async () => {
      await gate.promise
      return true
    })
    const pay = make({
      name: "pay",
      parameters: slow,
      handler: () => {
        ran += 1
        return ok("paid")
      }
    })
    const { troupe } = await program(memory(), home, { tools: [pay] })
    const chat = await troupe.chat("a")
    const turn = chat.send("pay")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    home.isConfirmed = false
    gate.resolve()
    await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
    expect(ran).toBe(0)
  })
})

describe("STORE8 conversations of another home", () => {
  test("do not expire here", async () => {
    const time = Clock.test()
    const store = memory({ clock: time, ttlMs: 1_000 })
    const home = new HandHome(1)
    const adapter = check.fake({ script: says("Hi.") })
    const { troupe, clock } = await check.troupe({ adapter, store, home })
    await (await troupe.chat("a")).send("one").result()
    await (await troupe.chat("a")).stop()
    home.epoch = undefined
    await time.advance(120_000)
    await clock.advance(120_000)
    expect((await store.list()).chats).toHaveLength(1)
    home.epoch = 1
    await clock.advance(60_000)
    expect((await store.list()).chats).toHaveLength(0)
  })
})
