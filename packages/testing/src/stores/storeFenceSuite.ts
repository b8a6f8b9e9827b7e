/** The laws of the fences of a store. */
import type { Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, everything, save } from "./storeLaw.ts"
import { inputOf, said } from "./storeSamples.ts"

export const fenceLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "an epoch that is claimed again stays, and an older one is refused for good", async (store) => {
    await store.claim("k", 2)
    await store.claim("k", 2)
    await store.claim("other", 1)
    await refuses("an older claim", "store_fenced", () => store.claim("k", 1))
    await store.claim("k", 5)
    for (const epoch of [0, 2, 4]) await refuses(`the claim of ${epoch}`, "store_fenced", () => store.claim("k", epoch))
    await store.claim("k", 5)
    for (const epoch of [-1, 1.5, Number.NaN]) {
      await refuses(`the claim of ${epoch}`, "invalid_options", () => store.claim("k", epoch))
    }
  }),
  storeLaw(make, "several keys are claimed together, each once, and all of them or none", async (store) => {
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`)
    await store.claim([...keys, "k7"], 2)
    await store.claim(keys.toReversed(), 2)
    await store.claim([], 1)
    for (const key of keys) await refuses(`an older claim of ${key}`, "store_fenced", () => store.claim(key, 1))
    await store.claim("k7", 3)
    await refuses("a claim of an older epoch of one", "store_fenced", () => store.claim(["new", ...keys], 2))
    await store.claim("new", 0)
    await store.claim(["new", "k7"], 3)
  }),
  storeLaw(
    make,
    "every write that names an epoch older than the claimed one is refused, and changes nothing",
    async (store) => {
      await store.claim("k", 1)
      const old = { key: "k", epoch: 1 }
      await save(store, said("a", "one"), { after: 0, fence: old })
      await store.accept("a", inputOf("i1", "1"), old)
      await store.keepDraft("a", "so far", 1, old)
      await store.claim("k", 2)
      const before = [await everything(store, "a"), await store.list()]
      for (const [name, write] of Object.entries(writesOf(store, old))) await refuses(name, "store_fenced", write)
      await refuses("a rewind", "store_fenced", () => store.rewind("a", 1, { fence: old }))
      same("what the store has", [await everything(store, "a"), await store.list()], before)
      same("a rewind with a fence alone", (await store.rewind("a", 1, { fence: { key: "k", epoch: 2 } })).version, 2)
    }
  ),
  storeLaw(
    make,
    "writes that name the claimed epoch or a newer one, another key or no fence are done",
    async (store) => {
      await store.claim("k", 2)
      const fences = [{ key: "k", epoch: 2 }, { key: "k", epoch: 3 }, { key: "other", epoch: 0 }, undefined]
      for (const [index, fence] of fences.entries()) {
        await save(store, said("a", "one"), { fence })
        for (const write of Object.values(writesOf(store, fence, `${index}`))) await write()
      }
      same("the entries of a", (await store.history("a")).length, 3 * fences.length)
      same("the forks", (await store.list({ prefix: "fork" })).chats.length, fences.length)
      await store.claim("k", 2)
    }
  ),
  storeLaw(make, "an epoch that only writes have named is not claimed", async (store) => {
    await save(store, said("a", "one"), { after: 0, fence: { key: "k", epoch: 7 } })
    await save(store, said("a", "two"), { after: 1, fence: { key: "k", epoch: 0 } })
    await store.claim("k", 0)
  }),
  storeLaw(make, "a conversation that was never saved is fenced too", async (store) => {
    await store.claim("k", 2)
    const fence = { key: "k", epoch: 1 }
    await refuses("a save", "store_fenced", () => save(store, said("a", "one"), { after: 0, fence }))
    await refuses("an input", "store_fenced", () => store.accept("b", inputOf("i1", "1"), fence))
    same("the list", await store.list(), { chats: [] })
  }),
  storeLaw(make, "the key of a fence is any text", async (store) => {
    const keys = ["k", "K", "k ", "ä", "a\u0308", "\0", "\uD800", "x".repeat(5_000), "x".repeat(5_001)]
    for (const key of keys) await store.claim(key, 2)
    for (const key of keys) await refuses("an older claim", "store_fenced", () => store.claim(key, 1))
  }),
  storeLaw(make, "when a claim has returned, no write of an older epoch is done", async (store) => {
    for (let epoch = 0; epoch < 8; epoch++) {
      const fence = { key: epoch < 4 ? "k" : `k${epoch}`, epoch }
      if (epoch % 2 === 0) await store.claim(fence.key, epoch)
      const id = `chat ${epoch}`
      const writes = Array.from({ length: 12 }, async (_, index) =>
        index % 3 === 0
          ? store.accept(id, inputOf(`i${index}`, "1"), fence)
          : save(store, said(id, `${index}`), { after: 0, fence })
      )
      const claim = Promise.resolve(store.claim(fence.key, epoch + 1))
      const seen = claim.then(() => everything(store, id))
      await Promise.allSettled(writes)
      same("what the store has", await everything(store, id), await seen)
      await refuses("a save", "store_fenced", () => save(store, said(id, "late"), { after: 0, fence }))
    }
  })
]

/** Every kind of write. The chat `a` has an entry. */
const writesOf = (
  store: Store.SessionStore,
  fence: { readonly key: string; readonly epoch: number } | undefined,
  name = ""
): Readonly<Record<string, () => unknown>> => ({
  save: () => save(store, said("a", "two"), { takes: ["i1"], fence }),
  rewind: () => store.rewind("a", 1, { fence }),
  fork: () => store.fork("a", `fork ${name}`, 1, fence),
  accept: () => store.accept("a", inputOf(`i2 ${name}`, "2"), fence),
  "another accept": () => store.accept(`b ${name}`, inputOf("i1", "1"), fence),
  keepDraft: () => store.keepDraft("a", "late", 1, fence),
  delete: () => store.delete(`b ${name}`, fence)
})
