import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, readTo, said, says } from "../double/scripts.ts"
import type { ChatSnapshot } from "../../src/view/liveView.ts"
import { make } from "../../src/tool/Tool.ts"
import { bucketOf, memory } from "../../src/store/Store.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A chat whose first reply streams `Once upon` and hangs; later replies repeat the last message. */
const telling = async (options: Partial<TroupeOptions> = {}) => {
  let replies = 0
  const adapter = check.fake({
    respond: ({ messages }) =>
      replies++ === 0 ? [{ text: "Once " }, { text: "upon" }, { hang: true }] : says(`re ${said(messages.at(-1))}`)
  })
  const made = await check.troupe({ adapter, ...options })
  const chat = await made.troupe.chat("c")
  const turn = chat.send("Tell", { id: "m1" })
  await until(() => chat.getSnapshot()?.context.partial.text === "Once upon")
  return { ...made, adapter, chat, turn }
}

const texts = (messages: ReadonlyArray<Parameters<typeof said>[0]>) => messages.map(said)

describe("REF8 when a chat leaves", () => {
  test.each<readonly [string, Partial<TroupeOptions>]>([
    ["a store of the caller", { store: memory() }],
    ["the default store", {}]
  ])("during a reply, its turn fails with `moved` and the next start has the text so far (%s)", async (_, options) => {
    const { troupe, chat, turn } = await telling(options)
    await chat.leave()
    await expect(turn.result()).rejects.toMatchObject({ _tag: "SessionError", reason: "moved" })
    expect([await turn.delivery, chat.pid]).toEqual([{ status: "delivered" }, undefined])
    const again = await troupe.chat("c")
    expect(again).not.toBe(chat)
    expect(await again.view()).toMatchObject({ phase: "interrupted", partial: { text: "Once upon" } })
    await again.retry().result()
    expect(texts(again.thread.messages)).toEqual(["Tell", "re Tell"])
  })

  test("while it is started, its callers get `moved`, and nothing is stored", async () => {
    const store = memory()
    const { promise: loaded, resolve: load } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const slow: SessionStore = {
      ...store,
      load: async (id) => {
        begin()
        await loaded
        return store.load(id)
      }
    }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("hi") }), store: slow })
    const opened = troupe.chat("c")
    await begun
    const left = troupe.leave([bucketOf("c")])
    load()
    await expect(opened).rejects.toMatchObject({ _tag: "SessionError", reason: "moved" })
    await left
    expect(await store.load("c")).toBeUndefined()
  })

  test("because its bucket is released, the chats of other buckets stay", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("hi") }) })
    const chats = await Promise.all(["a", "b", "c"].map((id) => troupe.chat(id)))
    await troupe.leave([bucketOf("a"), bucketOf("b")])
    expect(chats.map(({ pid }) => pid !== undefined)).toEqual([false, false, true])
    await troupe.leave([bucketOf("b")])
    await (await troupe.chat("a")).send("Hi").result()
    await troupe.leave([bucketOf("a")])
    expect(["a", "b", "c"].map((id) => troupe.isAlive(id))).toEqual([false, false, true])
  })

  test("inputs that wait stay stored, and run once in the next start", async () => {
    const { troupe, chat } = await telling({ store: memory() })
    const waiting = [chat.send("a", { id: "a" }), chat.send("b", { id: "b" })]
    await Promise.all(waiting.map(({ receipt }) => receipt))
    await chat.leave()
    for (const turn of waiting) {
      expect(await turn.delivery).toEqual({ status: "pending" })
      await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
    }
    const again = await troupe.chat("c")
    expect(again.getSnapshot()?.context.inbox.map(({ id }) => id)).toEqual(["a", "b"])
    const same = again.send("a", { id: "a" })
    await Promise.all([same, ...again.resume()].map((turn) => turn.result()))
    expect(texts(again.thread.messages)).toEqual(["Tell", "Once upon", "a", "re a", "b", "re b"])
  })

  test("it fails what is asked of its old address, and a second `leave` or `stop` is the same end", async () => {
    const { chat } = await telling()
    const leaving = chat.leave()
    expect([chat.leave(), chat.stop()]).toEqual([leaving, leaving])
    await leaving
    await expect(chat.send("more").result()).rejects.toMatchObject({ reason: "moved" })
    await expect(chat.setPermissionMode("plan")).rejects.toMatchObject({ reason: "moved" })
  })

  test("after `stop` was called, it stays stopped", async () => {
    const { chat, turn } = await telling()
    const stopping = chat.stop()
    await chat.leave()
    await stopping
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_stopped" })
    expect(chat.getSnapshot()?.context.phase).toBe("idle")
  })

  test("the store has its draft when `leave` resolves, however slow the store is", async () => {
    const store = memory()
    const gate = Promise.withResolvers<void>()
    const kept: Array<string> = []
    const slow: SessionStore = {
      ...bound(store),
      keepDraft: async (id, text, after) => {
        await gate.promise
        await store.keepDraft(id, text, after)
        kept.push(text)
      }
    }
    const { chat } = await telling({ store: slow })
    const leaving = chat.leave().then(() => kept.slice())
    await hop()
    gate.resolve()
    expect(await leaving).toEqual(["Once upon"])
  })

  test("a chat that is requested meanwhile is the next start", async () => {
    const released = Promise.withResolvers<void>()
    const slow = make({
      name: "slow",
      handler: async (_, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
        await released.promise
        return ok("late")
      }
    })
    const adapter = check.fake({ scripts: [calls("slow"), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools: [slow], store: memory() })
    const chat = await troupe.chat("c")
    chat.send("go")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    const leaving = chat.leave()
    const asked = troupe.chat("c")
    await hop()
    released.resolve()
    const [again] = await Promise.all([asked, leaving])
    expect(again).not.toBe(chat)
    expect(again.pid !== undefined && Process.isAlive(again.pid)).toBe(true)
  })
})

describe("VIEW4 the observers of a chat that leaves", () => {
  const observed = () => {
    const seen: Array<ChatSnapshot> = []
    let isComplete = false
    const observer = { next: (snapshot: ChatSnapshot) => void seen.push(snapshot), complete: () => (isComplete = true) }
    return { observer, last: () => seen.at(-1), isComplete: () => isComplete }
  }

  test("get a last snapshot of the phase `moved` with the text so far, during a reply", async () => {
    const { chat } = await telling()
    const { observer, last, isComplete } = observed()
    chat.subscribe(observer)
    await chat.leave()
    expect(last()).toMatchObject({ status: "stopped", value: "ended", context: { phase: "moved", turn: undefined } })
    expect([last()?.context.partial.text, isComplete()]).toEqual(["Once upon", true])
    expect(await chat.view()).toMatchObject({ phase: "moved", partial: { text: "Once upon" } })
  })

  test("get it at rest too", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("Hi.") }) })
    const chat = await troupe.chat("c")
    await chat.send("Hello").result()
    const { observer, last, isComplete } = observed()
    chat.subscribe(observer)
    await chat.leave()
    expect([last()?.context.phase, isComplete()]).toEqual(["moved", true])
    const again = await troupe.chat("c")
    expect(await again.view()).toMatchObject({ phase: "idle", partial: { text: "" } })
    expect(texts(again.thread.messages)).toEqual(["Hello", "Hi."])
  })
})

describe("ATT4 a reader of a chat that leaves", () => {
  test("reads its unread events, and then fails with `moved`; a later reader fails at once", async () => {
    const { chat } = await telling()
    const reader = chat.attach({ cursor: "turn" })
    const waiting = chat.attach()
    await waiting.next()
    const next = waiting.next()
    await chat.leave()
    await expect(next).rejects.toMatchObject({ reason: "moved" })
    const types: Array<string> = []
    const reading = async () => {
      for await (const item of reader) types.push(item.type === "event" ? item.event.type : item.type)
    }
    await expect(reading()).rejects.toMatchObject({ _tag: "SessionError", reason: "moved" })
    expect(types).toContain("text_delta")
    await expect(chat.attach().next()).rejects.toMatchObject({ reason: "moved" })
  })

  test("does not wait for a reader that does not read", async () => {
    const { troupe, chat, turn } = await telling({ store: memory() })
    const readers = [chat.attach({ cursor: "turn" }), chat.attach()]
    await readTo(turn, "message_started")
    await chat.leave()
    const again = await troupe.chat("c")
    expect(again.pid).toBeDefined()
    for (const reader of readers) await reader.return()
  })

  test("gets a snapshot first from the next start, with its old cursor", async () => {
    const { troupe, chat } = await telling({ store: memory() })
    const reader = chat.attach()
    const { value } = await reader.next()
    await chat.leave()
    const again = await troupe.chat("c")
    const resumed = again.attach({ cursor: value?.cursor })
    const first = await resumed.next()
    expect(first.value).toMatchObject({ type: "snapshot", view: { phase: "interrupted" } })
    await resumed.return()
  })
})

/** The store as an object whose functions can be replaced one by one. */
const bound = (store: SessionStore): SessionStore => ({
  ttlMs: store.ttlMs,
  load: (...args) => store.load(...args),
  append: (...args) => store.append(...args),
  accept: (...args) => store.accept(...args),
  claim: (...args) => store.claim(...args),
  delete: (...args) => store.delete(...args),
  history: (...args) => store.history(...args),
  at: (...args) => store.at(...args),
  fork: (...args) => store.fork(...args),
  rewind: (...args) => store.rewind(...args),
  list: (...args) => store.list(...args),
  keepDraft: (...args) => store.keepDraft(...args),
  expire: (...args) => store.expire(...args),
  close: () => store.close()
})
