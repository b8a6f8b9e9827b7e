/** The laws of a store that keeps a log. */
import type { Law } from "../law/index.ts"
import { blobLaws } from "./storeBlobSuite.ts"
import { fenceLaws } from "./storeFenceSuite.ts"
import { inboxLaws } from "./storeInboxSuite.ts"
import { entryLaws } from "./storeEntrySuite.ts"
import { memoryLaws } from "./storeMemorySuite.ts"
import { secretLaws } from "./storeSecretSuite.ts"
import { waitLaws } from "./storeWaitSuite.ts"
import { listLaws } from "./storeListSuite.ts"
import { type MakeStore, refuses, same, storeLaw, saveAll, everything, save } from "./storeLaw.ts"
import { conversation, inputOf, said } from "./storeSamples.ts"
import { forkLaws, rewindLaws } from "./storeForkSuite.ts"

/** The laws of `SessionStore`; `make` opens an empty store for each. */
export const sessionStoreLaws = (make: MakeStore): ReadonlyArray<Law> => [
  ...logLaws(make),
  ...writerLaws(make),
  ...inboxLaws(make),
  ...fenceLaws(make),
  ...entryLaws(make),
  ...forkLaws(make),
  ...rewindLaws(make),
  ...lifeLaws(make),
  ...listLaws(make),
  ...waitLaws(make),
  ...blobLaws(make),
  ...memoryLaws(make),
  ...secretLaws(make)
]

const logLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a store without the conversation has no record, entry or history of it", async (store) => {
    same("the record", await store.load("a"), undefined)
    same("the entry", await store.at("a", 1), undefined)
    same("the history", await store.history("a"), [])
    await store.delete("a")
  }),
  storeLaw(
    make,
    "every save is an entry, numbered from 1 without gaps, with the time it was written",
    async (store, clock) => {
      const records = conversation("a")
      for (const [index, record] of records.entries()) {
        same("what the save came to", await save(store, record), { seq: index + 1 })
        await clock.advance(10)
      }
      const history = await store.history("a")
      const listed = history.map(({ seq, at, kind, from }) => [seq, at, kind, from])
      same(
        "the history",
        listed,
        Array.from(records, (_, index) => [index + 1, index * 10, "saved", undefined])
      )
    }
  ),
  storeLaw(make, "load gives the newest record, with the number of its entry", async (store) => {
    for (const [index, record] of conversation("a").entries()) {
      await save(store, record)
      same("the record", await store.load("a"), { ...record, version: index + 1 })
    }
  }),
  storeLaw(
    make,
    "every entry gives the record that was saved, with all of its fields, however many came after",
    async (store) => {
      const records = [...conversation("a"), ...conversation("a").toReversed()]
      await saveAll(store, records)
      for (const [index, record] of records.entries()) {
        const seq = index + 1
        same(`the entry ${seq}`, await store.at("a", seq), { ...record, version: seq })
      }
      for (const seq of [0, -1, 1.5, records.length + 1]) same(`the entry ${seq}`, await store.at("a", seq), undefined)
    }
  ),
  storeLaw(make, "an entry is a step unless a step is open in its record", async (store) => {
    const records = conversation("a")
    await saveAll(store, records)
    const steps = (await store.history("a")).map(({ isStep }) => isStep)
    same(
      "the steps",
      steps,
      records.map(({ open }) => open === undefined)
    )
  }),
  storeLaw(make, "a record that is saved with another version is kept with the number of its entry", async (store) => {
    const record = said("a", "one")
    await save(store, { ...record, version: 7 })
    same("the record", await store.load("a"), { ...record, version: 1 })
    same("the entry", await store.at("a", 1), { ...record, version: 1 })
  }),
  storeLaw(make, "a history is read page by page", async (store) => {
    for (let count = 1; count <= 60; count++) await save(store, said("a", `${count}`))
    const seqs = async (options?: { readonly after?: number; readonly limit?: number }) =>
      (await store.history("a", options)).map(({ seq }) => seq)
    const all = Array.from({ length: 60 }, (_, index) => index + 1)
    same("a page", await seqs(), all.slice(0, 50))
    same("the page after it", await seqs({ after: 50 }), all.slice(50))
    same("a small page", await seqs({ after: 20, limit: 3 }), [21, 22, 23])
    same("the page after the last", await seqs({ after: 60 }), [])
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await refuses(`a limit of ${limit}`, "invalid_options", () => store.history("a", { limit }))
    }
    await refuses("an entry before the first", "invalid_options", () => store.history("a", { after: -1 }))
  }),
  storeLaw(make, "a draft is given with the record until the next entry, and is none itself", async (store) => {
    const record = said("a", "one")
    await save(store, record)
    for (const draft of ["Once", "Once upon a 100%_time '\u{1F600}", ""]) {
      await store.keepDraft("a", draft, 1)
      same("the record", await store.load("a"), { ...record, version: 1, draft })
    }
    same("the entry", await store.at("a", 1), { ...record, version: 1 })
    same("the number of entries", (await store.history("a")).length, 1)
    await save(store, record)
    same("the record", await store.load("a"), { ...record, version: 2 })
    await store.keepDraft("a", "again", 2)
    await store.rewind("a", 1)
    same("the record", await store.load("a"), { ...record, version: 3 })
  }),
  storeLaw(
    make,
    "a draft of the record itself is part of its entry, and one kept since stands in its place",
    async (store) => {
      const record = { ...said("a", "one"), draft: "Once" }
      await save(store, record)
      same("the record", await store.load("a"), { ...record, version: 1 })
      await store.keepDraft("a", "Once upon", 1)
      same("the record", await store.load("a"), { ...record, version: 1, draft: "Once upon" })
      same("the entry", await store.at("a", 1), { ...record, version: 1 })
      same("the fork", await store.fork("a", "b"), { ...record, id: "b", version: 1 })
    }
  ),
  storeLaw(make, "a draft said after another entry than the newest is late, and not kept", async (store) => {
    await store.keepDraft("a", "of nothing", 0)
    same("the record", await store.load("a"), undefined)
    const record = said("a", "one")
    await save(store, record)
    await save(store, record)
    for (const after of [0, 1, 3]) await store.keepDraft("a", "late", after)
    same("the record", await store.load("a"), { ...record, version: 2 })
  }),
  storeLaw(make, "an id is any text, and the ids of two conversations are never taken for one", async (store) => {
    const ids = [
      "a",
      "A",
      "a ",
      "a/b",
      "a/../b",
      "..",
      "'; --",
      '"',
      "\\",
      "%",
      "_",
      "ä",
      "a\u0308",
      "\u{1F600}",
      "x".repeat(1_000)
    ]
    for (const id of ids) await save(store, said(id, `this is ${id}`))
    for (const id of ids) {
      same(`the record of ${id}`, await store.load(id), { ...said(id, `this is ${id}`), version: 1 })
      same(`what ${id} is forked to`, (await store.fork(id, `${id}+`)).id, `${id}+`)
    }
    same("the number of conversations", (await store.list({ limit: 100 })).chats.length, 2 * ids.length)
  })
]

const writerLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a save is refused when somebody else wrote since, and changes nothing", async (store) => {
    await save(store, said("a", "one"), { after: 0 })
    await save(store, said("a", "one", "two"), { after: 1 })
    await store.keepDraft("a", "so far", 2)
    const before = await everything(store, "a")
    for (const after of [0, 1, 3]) {
      const late = () => save(store, said("a", "late"), { after })
      await refuses(`a save after ${after}`, "store_conflict", late)
      await refuses(`a rewind after ${after}`, "store_conflict", () => store.rewind("a", 1, { after }))
    }
    same("what the store has", await everything(store, "a"), before)
  }),
  storeLaw(make, "a writer that names the newest entry may write, whoever wrote it", async (store) => {
    await save(store, said("a", "one"), { after: 0 })
    await save(store, said("a", "two"), { after: 1 })
    await save(store, said("a", "three"))
    await refuses("a save of before", "store_conflict", () => save(store, said("a", "x"), { after: 2 }))
    same("the entry", await save(store, said("a", "four"), { after: 3 }), { seq: 4 })
    await store.rewind("a", 2, { after: 4 })
    await refuses("a save of before", "store_conflict", () => save(store, said("a", "x"), { after: 4 }))
  }),
  storeLaw(make, "a save behind an entry that was deleted meanwhile is refused", async (store) => {
    await save(store, said("a", "one"), { after: 0 })
    await store.delete("a")
    await refuses("a save", "store_conflict", () => save(store, said("a", "two"), { after: 1 }))
    same("the record", await store.load("a"), undefined)
  }),
  storeLaw(make, "of two that write after the same entry at once, one is refused", async (store) => {
    const writers = ["w1", "w2", "w3", "w4"]
    for (let after = 0; after < 5; after++) {
      const came = await Promise.allSettled(
        writers.map(async (writer) => save(store, said("a", `${writer} ${after}`), { after }))
      )
      same("how many were kept", came.filter(({ status }) => status === "fulfilled").length, 1)
      const kept = came.findIndex(({ status }) => status === "fulfilled")
      const record = said("a", `${writers[kept] ?? ""} ${after}`)
      same("the record", await store.load("a"), { ...record, version: after + 1 })
    }
  }),
  storeLaw(make, "many conversations are written at the same time, and none of them loses anything", async (store) => {
    const ids = Array.from({ length: 20 }, (_, index) => `chat ${index}`)
    await Promise.all(
      ids.map(async (id) => {
        for (const [after, record] of conversation(id).entries()) await save(store, record, { after })
      })
    )
    for (const id of ids) {
      for (const [index, record] of conversation(id).entries()) {
        same(`an entry of ${id}`, await store.at(id, index + 1), { ...record, version: index + 1 })
      }
    }
  })
]

const ttlMs = 1_000

const lifeLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "what is deleted is gone with all its entries, and begins anew", async (store) => {
    await saveAll(store, conversation("a"))
    await save(store, said("b", "one"))
    await store.keepDraft("a", "so far", conversation("a").length)
    await store.delete("a")
    same("what the store has", await everything(store, "a"), [undefined, []])
    same("an entry", await store.at("a", 1), undefined)
    same(
      "the list",
      (await store.list()).chats.map(({ id }) => id),
      ["b"]
    )
    same("what the next save comes to", await save(store, said("a", "new"), { after: 0 }), { seq: 1 })
    same("the record", await store.load("a"), { ...said("a", "new"), version: 1 })
    same("the other", await store.load("b"), { ...said("b", "one"), version: 1 })
  }),
  storeLaw(
    make,
    "what had no entry for longer than the time to live is deleted, but for what is kept",
    async (store, clock) => {
      for (const id of ["old", "kept", "written", "forked"]) await save(store, said(id, "one"))
      await store.keepDraft("old", "so far", 1)
      await clock.advance(ttlMs)
      same("how many expired", await store.expire(), 0)
      await save(store, said("written", "two"))
      await clock.advance(1)
      await store.fork("forked", "fork")
      same("how many expired", await store.expire((id) => id === "kept"), 2)
      same("what the store has", await everything(store, "old"), [undefined, []])
      same("the list", (await store.list()).chats.map(({ id }) => id).toSorted(), ["fork", "kept", "written"])
      same("how many expired", await store.expire(), 1)
      same("the time to live", store.ttlMs, ttlMs)
    },
    ttlMs
  ),
  storeLaw(make, "without a time to live nothing expires", async (store, clock) => {
    await save(store, said("a", "one"))
    await clock.advance(1e12)
    same("how many expired", await store.expire(), 0)
    same("the record", await store.load("a"), { ...said("a", "one"), version: 1 })
    same("the time to live", store.ttlMs, undefined)
  }),
  storeLaw(make, "a store that is closed refuses everything but to be closed again", async (store) => {
    await save(store, said("a", "one"))
    await store.close()
    const operations: Readonly<Record<string, () => unknown>> = {
      load: () => store.load("a"),
      append: () => save(store, said("a", "two")),
      accept: () => store.accept("a", inputOf("i1", "two")),
      claim: () => store.claim("k", 1),
      delete: () => store.delete("a"),
      history: () => store.history("a"),
      at: () => store.at("a", 1),
      fork: () => store.fork("a", "b"),
      rewind: () => store.rewind("a", 1),
      list: () => store.list(),
      keepDraft: () => store.keepDraft("a", "x", 1),
      expire: () => store.expire()
    }
    for (const [name, ask] of Object.entries(operations)) await refuses(name, "store_closed", ask)
    await store.close()
  })
]
