/** The laws of forks and rewinds of a store. */
import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, saveAll, everything, save } from "./storeLaw.ts"
import { conversation, recordWith, said } from "./storeSamples.ts"

export const forkLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a fork begins with the record of the entry", async (store, clock) => {
    const records = conversation("a")
    await saveAll(store, records)
    await clock.advance(5)
    for (const [index, record] of records.entries()) {
      if (record.open !== undefined) continue
      const seq = index + 1
      const id = `fork ${seq}`
      const { permissionMode: _, ...rest } = record
      same("the fork", await store.fork("a", id, seq), { ...rest, id, version: 1 })
      same("what is loaded of it", await store.load(id), { ...rest, id, version: 1 })
      const [first, ...more] = await store.history(id)
      same("its first entry", [first?.seq, first?.at, first?.kind, first?.from], [1, 5, "forked", { id: "a", seq }])
      same("its messages", [first?.kept, first?.messages, more], [0, record.thread.messages, []])
    }
  }),
  storeLaw(make, "a fork without an entry begins at the newest one that is a step", async (store) => {
    const [begun, open] = conversation("a")
    await saveAll(
      store,
      [begun, open].filter((record) => record !== undefined)
    )
    await store.fork("a", "b")
    same("where it was forked from", (await store.history("b"))[0]?.from, { id: "a", seq: 1 })
  }),
  storeLaw(make, "a fork and its origin do not change each other afterwards", async (store) => {
    await saveAll(store, [said("a", "one"), said("a", "one", "two")])
    await store.fork("a", "b", 1)
    await save(store, said("b", "one", "other"), { after: 1 })
    await save(store, said("a", "one", "two", "three"))
    same("the one", await store.load("a"), { ...said("a", "one", "two", "three"), version: 3 })
    same("the fork", await store.load("b"), { ...said("b", "one", "other"), version: 2 })
    await store.delete("a")
    same("the fork", await store.load("b"), { ...said("b", "one", "other"), version: 2 })
    same("its first entry", await store.at("b", 1), { ...said("b", "one"), version: 1 })
    await store.fork("b", "a")
    same("the fork of the fork", await store.load("a"), { ...said("a", "one", "other"), version: 1 })
  }),
  storeLaw(
    make,
    "a fork is refused where a step is open, of what is not there, and to what is; and changes nothing",
    async (store) => {
      await saveAll(store, conversation("a"))
      await save(store, said("b", "one"))
      const open = recordWith("c", [user("x"), Message.assistant("", [{ id: "c1", name: "t", arguments: {} }])], {
        open: { at: 1, calls: [{ state: "intended" }] }
      })
      await save(store, open)
      const before = await Promise.all(["a", "b", "c"].map((id) => everything(store, id)))
      await refuses("a fork of an open step", "not_a_step", () => store.fork("a", "d", 2))
      await refuses("a fork of one without a step", "not_a_step", () => store.fork("c", "d"))
      await refuses("a fork of nothing", "unknown_chat", () => store.fork("none", "d"))
      for (const seq of [0, -1, 1.5, 99]) {
        await refuses(`a fork at ${seq}`, "unknown_commit", () => store.fork("a", "d", seq))
      }
      await refuses("a fork to another", "chat_exists", () => store.fork("a", "b", 1))
      await refuses("a fork to itself", "chat_exists", () => store.fork("a", "a", 1))
      same("what the store has", await Promise.all(["a", "b", "c"].map((id) => everything(store, id))), before)
      same("the fork", await store.load("d"), undefined)
    }
  )
]

export const rewindLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(
    make,
    "a rewind adds an entry that stands where the earlier one did, and keeps all before it",
    async (store, clock) => {
      const records = conversation("a")
      await saveAll(store, records)
      const before = await store.history("a")
      await clock.advance(5)
      let seq = records.length
      for (const [index, record] of records.entries()) {
        if (record.open !== undefined) continue
        seq += 1
        const { permissionMode: _, ...rest } = record
        const rewound = await store.rewind("a", index + 1)
        same("what it came to", rewound, { ...rest, version: seq })
        same("the record", await store.load("a"), rewound)
        same("its entry", await store.at("a", seq), rewound)
        const [commit] = await store.history("a", { after: seq - 1 })
        same("its entry", [commit?.seq, commit?.at, commit?.kind], [seq, 5, "rewound"])
        same("where it leads", commit?.from, { id: "a", seq: index + 1 })
      }
      same("the history", (await store.history("a")).slice(0, records.length), before)
    }
  ),
  storeLaw(make, "a rewind to the entry 0 leads to the beginning, and can be rewound", async (store) => {
    const records = conversation("a")
    await saveAll(store, records)
    const seq = records.length + 1
    const beginning = { ...Store.blank("a"), version: seq }
    same("what it came to", await store.rewind("a", 0), beginning)
    same("the record", await store.load("a"), beginning)
    const [commit] = await store.history("a", { after: seq - 1 })
    same("its entry", [commit?.kind, commit?.from, commit?.isStep], ["rewound", { id: "a", seq: 0 }, true])
    const { messages } = (await store.rewind("a", 1)).thread
    same("the first messages", messages, records[0]?.thread.messages)
  }),
  storeLaw(make, "a fork and a rewind keep the permission mode of now, not that of then", async (store) => {
    const loose = { mode: "bypass", loosest: "bypass" } as const
    const strict = { mode: "plan", loosest: "plan", host: "default" } as const
    await save(store, { ...said("a", "one"), permissionMode: loose })
    await save(store, { ...said("a", "one", "two"), permissionMode: strict })
    const began = { ...said("a", "one"), permissionMode: strict }
    same("the fork", await store.fork("a", "b", 1), { ...began, id: "b", version: 1 })
    same("the record", await store.rewind("a", 1), { ...began, version: 3 })
    same("the beginning", await store.rewind("a", 0), { ...Store.blank("a"), permissionMode: strict, version: 4 })
  }),
  storeLaw(make, "a rewind to before the end of a background task keeps that it has ended", async (store) => {
    const task = (id: string) => ({ id, toolCallId: id, tool: "dig", arguments: {}, key: id, startedAt: 1 })
    const begun = { ...said("a", "one"), known: ["i1"], tasks: [task("t1"), task("t2")] }
    await save(store, begun)
    await save(store, { ...said("a", "one", "two"), known: ["i1", "task/t1", "i2"], tasks: [task("t2")] })
    const over = { ...begun, known: ["i1", "task/t1"], tasks: [task("t2")] }
    same("the record", await store.rewind("a", 1), { ...over, version: 3 })
    same("the beginning", await store.rewind("a", 0), { ...Store.blank("a"), known: ["task/t1"], version: 4 })
    same("the record again", await store.rewind("a", 1), { ...over, version: 5 })
    same("a fork", await store.fork("a", "b", 1), { ...said("b", "one"), known: ["i1"], version: 1 })
  }),
  storeLaw(
    make,
    "a rewind is refused where a step is open and of what is not there, and changes nothing",
    async (store) => {
      await saveAll(store, conversation("a"))
      const before = await everything(store, "a")
      await refuses("a rewind to an open step", "not_a_step", () => store.rewind("a", 2))
      await refuses("a rewind of nothing", "unknown_chat", () => store.rewind("none", 1))
      for (const seq of [-1, 1.5, 99]) {
        await refuses(`a rewind to ${seq}`, "unknown_commit", () => store.rewind("a", seq))
      }
      same("what the store has", await everything(store, "a"), before)
      same("the record of nothing", await store.load("none"), undefined)
    }
  )
]
