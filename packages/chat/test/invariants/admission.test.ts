import { describe, expect, test } from "vitest"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said, says } from "../double/scripts.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { StartSlots } from "../../src/live/supervisionTree.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A Troupe whose model hangs at `hang`, and answers everything else. */
const answering = async (options: Partial<TroupeOptions>) => {
  const adapter = check.fake({
    respond: ({ messages }) => (said(messages.at(-1)) === "hang" ? [{ text: "so" }, { hang: true }] : says("fine"))
  })
  return check.troupe({ adapter, ...options })
}

/** The store, and the ids that were loaded. */
const watched = () => {
  const store = memory()
  const loaded: Array<string> = []
  const load: SessionStore["load"] = (id) => {
    loaded.push(id)
    return store.load(id)
  }
  return { store: { ...store, load }, loaded }
}

describe("ADMIT1 when as many chats have a process as may have one", () => {
  test("and all are busy, another one is refused with `overloaded` before it is loaded, and those that run go on", async () => {
    const { store, loaded } = watched()
    const { troupe } = await answering({ store, maxLiveChats: 2 })
    const chats = [await troupe.chat("a"), await troupe.chat("b")]
    for (const chat of chats) chat.send("hang")
    await until(() => chats.every((chat) => chat.getSnapshot()?.context.partial.text === "so"))
    await expect(troupe.chat("c")).rejects.toMatchObject({
      _tag: "SessionError",
      reason: "overloaded",
      metadata: { id: "c", maxLiveChats: 2 }
    })
    expect([loaded, troupe.isAlive("c"), await troupe.chat("a")]).toEqual([["a", "b"], false, chats[0]])
    await chats[0]?.stop()
    expect((await (await troupe.chat("c")).send("go").result()).haltedReason).toBe("completed")
  })

  test("and one is idle, the one that is idle for longest is unloaded in its place", async () => {
    const { troupe, clock } = await answering({ maxLiveChats: 2, passivateAfterMs: 1_000 })
    const a = await troupe.chat("a")
    await a.send("go").result()
    const b = await troupe.chat("b")
    await b.send("go").result()
    await clock.advance(300)
    await a.send("go").result()
    await clock.advance(300)
    const c = await troupe.chat("c")
    expect([a.pid === undefined, b.pid === undefined, c.pid === undefined]).toEqual([false, true, false])
    expect((await b.send("again").result()).haltedReason).toBe("completed")
  })

  test("a chat that is in use is started again, however many run", async () => {
    const { troupe } = await answering({ maxLiveChats: 1 })
    const a = await troupe.chat("a")
    await a.send("go").result()
    const b = await troupe.chat("b")
    b.send("hang")
    expect(a.pid).toBeUndefined()
    expect((await a.send("again").result()).haltedReason).toBe("completed")
    await expect(troupe.chat("c")).rejects.toMatchObject({ reason: "overloaded" })
  })

  test("chats that are being loaded count", async () => {
    const gate = Promise.withResolvers<void>()
    const store = memory()
    const load: SessionStore["load"] = async (id) => {
      await gate.promise
      return store.load(id)
    }
    const { troupe } = await answering({ store: { ...store, load }, maxLiveChats: 3 })
    const asked = Promise.allSettled(["a", "b", "c", "d", "e"].map((id) => troupe.chat(id)))
    await hop()
    gate.resolve()
    const settled = await asked
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"])
  })

  test("bounds that are no counts are refused", async () => {
    for (const bound of [0, -1, 1.5, Number.NaN, "2" as unknown as number]) {
      await expect(answering({ maxLiveChats: bound })).rejects.toMatchObject({ reason: "invalid_options" })
      await expect(answering({ maxStartingChats: bound })).rejects.toMatchObject({ reason: "invalid_options" })
    }
  })
})

describe("STARTS1 chats that are started", () => {
  test("at most `maxStartingChats` at once are loaded, and all come", async () => {
    const store = memory()
    let loading = 0
    let most = 0
    const load: SessionStore["load"] = async (id) => {
      most = Math.max(most, ++loading)
      await hop()
      loading -= 1
      return store.load(id)
    }
    const { troupe } = await answering({ store: { ...store, load }, maxStartingChats: 3 })
    const chats = await Promise.all(Array.from({ length: 20 }, (_, at) => troupe.chat(`${at}`)))
    expect([most, chats.filter(({ pid }) => pid === undefined)]).toEqual([3, []])
  })

  test("wait in their order, and a failed start frees its slot", async () => {
    const slots = new StartSlots(1)
    const order: Array<number> = []
    const starts = Array.from({ length: 5 }, (_, at) =>
      slots.during(async () => {
        order.push(at)
        await hop()
        if (at % 2 === 0) throw new Error(`${at}`)
        return at
      })
    )
    const settled = await Promise.allSettled(starts)
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled", "rejected"])
    expect(order).toEqual([0, 1, 2, 3, 4])
    expect(await slots.during(async () => "next")).toBe("next")
  })
})
