/** The laws of saves that name what they add. */
import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw } from "./storeLaw.ts"
import { conversation, inputOf, recordWith, said } from "./storeSamples.ts"

/** The length of the beginning that two lists have in common. */
const shared = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): number => {
  const different = after.findIndex((element, place) => element !== before[place])
  return different === -1 ? after.length : different
}

export const keepsLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a save that names what it keeps adds the rest, and its store compares nothing", async (store) => {
    const messages = [user("one"), Message.assistant("two"), user("three")]
    const first = recordWith("a", messages, { known: ["i1", "i2"] })
    await store.save(first, { writer: "w1", after: 0, keeps: { messages: 0, known: 0 } })
    const second = recordWith("a", [...messages, Message.assistant("four")], { known: ["i1", "i2"] })
    await store.save(second, { writer: "w1", after: 1, keeps: { messages: 1, known: 1 } })
    const [, commit] = await store.history("a")
    same("what it kept", [commit?.kept, commit?.known?.kept], [1, 1])
    same("what it added", [commit?.messages, commit?.known?.added], [second.thread.messages.slice(1), ["i2"]])
    same("the record", await store.load("a"), { ...second, version: 2 })
    same("the entry before", await store.at("a", 1), { ...first, version: 1 })
  }),
  storeLaw(make, "every record of a conversation is kept whole by saves that name what they keep", async (store) => {
    const records = [...conversation("a"), ...conversation("a").toReversed()]
    for (const [after, record] of records.entries()) {
      const before = records[after - 1]
      const keeps = {
        messages: shared(before?.thread.messages ?? [], record.thread.messages),
        known: shared(before?.known ?? [], record.known ?? [])
      }
      same("the save", await store.save(record, { writer: "w1", after, keeps }), { seq: after + 1 })
      same("the record", await store.load("a"), { ...record, version: after + 1 })
    }
    for (const [index, record] of records.entries()) {
      same("an entry", await store.at("a", index + 1), { ...record, version: index + 1 })
    }
  }),
  storeLaw(make, "a writer's late save that names what it keeps of an older entry is kept whole", async (store) => {
    await store.save(said("a", "one", "two"), { writer: "w1", after: 0, keeps: { messages: 0, known: 0 } })
    await store.save(said("a", "other"), { writer: "w1", after: 1, keeps: { messages: 0, known: 0 } })
    const late = said("a", "one", "two", "three")
    await store.save(late, { writer: "w1", after: 1, keeps: { messages: 2, known: 0 } })
    same("the record", await store.load("a"), { ...late, version: 3 })
  }),
  storeLaw(
    make,
    "a save that names what it keeps is refused as any other, and takes inputs as any other",
    async (store) => {
      const keeps = { messages: 0, known: 0 }
      await store.accept("a", inputOf("i1", "1"))
      await store.accept("a", inputOf("i2", "2"))
      await store.save(said("a", "1"), { writer: "w1", after: 0, keeps, takes: ["i1"], fence: { key: "k", epoch: 1 } })
      same("the record", await store.load("a"), { ...said("a", "1"), inbox: [inputOf("i2", "2")], version: 1 })
      same("what waits", (await store.list()).chats[0]?.waiting, 1)
      const next = { writer: "w2", after: 1, keeps: { messages: 1, known: 0 }, takes: ["i2"] }
      await refuses("a save after 0", "store_conflict", () => store.save(said("a", "x"), { ...next, after: 0 }))
      await refuses("a save after 2", "store_conflict", () => store.save(said("a", "x"), { ...next, after: 2 }))
      await refuses("a save of none", "store_conflict", () => store.save(said("b", "x"), next))
      await store.claim("k", 2)
      const fenced = { ...next, fence: { key: "k", epoch: 1 } }
      await refuses("a save of an old epoch", "store_fenced", () => store.save(said("a", "1", "2"), fenced))
      await refuses("a save of an old epoch", "store_fenced", () =>
        store.save(said("b", "1"), { ...fenced, after: 0, keeps })
      )
      same("the record", await store.load("a"), { ...said("a", "1"), inbox: [inputOf("i2", "2")], version: 1 })
      const saved = await store.save(said("a", "1", "2"), { ...next, fence: { key: "k", epoch: 2 } })
      same("the save", saved, { seq: 2 })
      same("the record", await store.load("a"), { ...said("a", "1", "2"), version: 2 })
    }
  ),
  storeLaw(make, "saves and inputs of one conversation at the same time are all kept, each once", async (store) => {
    const keeps = { messages: 0, known: 0 }
    await store.save(said("a", "0"), { writer: "w1", after: 0, keeps })
    const inputs = Array.from({ length: 10 }, (_, index) => inputOf(`i${index}`, "1"))
    const saves = Array.from({ length: 10 }, async (_, index) =>
      store.save(said("a", "0", `${index}`), { writer: "w1", after: 1, keeps: { messages: 1, known: 0 } })
    )
    await Promise.all([...saves, ...inputs.map(async (input) => store.accept("a", input))])
    same("the entries", (await store.history("a")).length, 11)
    const record = await store.load("a")
    same("the messages", record?.thread.messages.length, 2)
    same(
      "the inputs",
      record?.inbox?.map(({ id }) => id).toSorted(),
      inputs.map(({ id }) => id)
    )
    same("what waits", (await store.list()).chats[0]?.waiting, 10)
  })
]
