/** The laws of the waiting inputs of a store. */
import { Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, everything, save } from "./storeLaw.ts"
import { type InboxEntry, inputOf, richInput, said } from "./storeSamples.ts"

export const inboxLaws = (make: MakeStore): ReadonlyArray<Law> => [
  ...acceptLaws(make),
  ...takeLaws(make),
  ...lifeLaws(make)
]

const waiting = async (store: Store.SessionStore, id: string): Promise<ReadonlyArray<string>> =>
  ((await store.load(id))?.inbox ?? []).map((input) => input.id)

const acceptAll = async (store: Store.SessionStore, id: string, inputs: ReadonlyArray<InboxEntry>): Promise<void> => {
  for (const input of inputs) await store.accept(id, input)
}

const acceptLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(
    make,
    "an input of an unknown conversation waits in an empty one, which has no entry, and whose first save is entry 1",
    async (store, clock) => {
      await clock.advance(7)
      const input = inputOf("i1", "  Hello\n there ")
      same("what accept came to", await store.accept("a", input), { input, isNew: true })
      same("the record", await store.load("a"), { ...Store.blank("a"), inbox: [input] })
      same("the history", await store.history("a"), [])
      same("the entry 0", await store.at("a", 0), undefined)
      same("the entry 1", await store.at("a", 1), undefined)
      const [summary] = (await store.list()).chats
      const { id, title, seq, messages, createdAt, updatedAt } = summary ?? {}
      same("the summary", [id, title, seq, messages, createdAt, updatedAt], ["a", "Hello there", 0, 0, 7, 7])
      await refuses("a fork", "not_a_step", () => store.fork("a", "b"))
      await refuses("a fork to it", "chat_exists", async () => {
        await save(store, said("b", "one"))
        return store.fork("b", "a")
      })
      await refuses("a rewind", "unknown_commit", () => store.rewind("a", 1))
      same("the save", await save(store, said("a", "Hello"), { after: 0, takes: ["i1"] }), { seq: 1 })
      same("the record", await store.load("a"), { ...said("a", "Hello"), version: 1 })
    }
  ),
  storeLaw(
    make,
    "inputs are given in the order they were accepted, each with all of its fields, and move the time of the last write",
    async (store, clock) => {
      await save(store, said("a", "one"))
      await save(store, said("b", "one"))
      await clock.advance(5)
      const inputs = [inputOf("i3", "three"), richInput("i1"), inputOf("i2", "two")]
      await acceptAll(store, "a", inputs)
      same("the record", await store.load("a"), { ...said("a", "one"), inbox: inputs, version: 1 })
      same("the history", (await store.history("a")).length, 1)
      const { chats } = await store.list()
      same(
        "the list",
        chats.map(({ id, title, seq, updatedAt }) => [id, title, seq, updatedAt]),
        [
          ["a", "one", 1, 5],
          ["b", "one", 1, 0]
        ]
      )
    }
  ),
  storeLaw(
    make,
    "an input of an id that waits is not accepted again: the waiting one is returned, and nothing is written",
    async (store, clock) => {
      const first = inputOf("i1", "first")
      await store.accept("a", first)
      await store.accept("b", inputOf("i1", "of another conversation"))
      const before = await store.list()
      await clock.advance(5)
      same("what it came to", await store.accept("a", inputOf("i1", "second")), { input: first, isNew: false })
      same("the list", await store.list(), before)
      same("the record", await store.load("a"), { ...Store.blank("a"), inbox: [first] })
    }
  ),
  storeLaw(make, "inputs that are accepted at the same time all wait, each once", async (store) => {
    const inputs = Array.from({ length: 20 }, (_, index) => inputOf(`i${index % 10}`, "now"))
    const came = await Promise.all(inputs.map(async (input) => store.accept("a", input)))
    same("how many are new", came.filter(({ isNew }) => isNew).length, 10)
    same(
      "the inputs",
      (await waiting(store, "a")).toSorted(),
      Array.from({ length: 10 }, (_, index) => `i${index}`)
    )
  }),
  storeLaw(make, "the id of an input is any text", async (store) => {
    const ids = [
      "a",
      "A",
      "a ",
      "'; --",
      '"',
      "ä",
      "a\u0308",
      "\u{1F600}",
      "\0",
      "\uD800",
      "x".repeat(5_000),
      "x".repeat(5_001)
    ]
    await acceptAll(
      store,
      "a",
      ids.map((id) => inputOf(id, "any"))
    )
    same("the inputs", await waiting(store, "a"), ids)
    await save(store, said("a", "one"), { after: 0, takes: ids.slice(2) })
    same("the inputs", await waiting(store, "a"), ids.slice(0, 2))
  }),
  storeLaw(make, "a draft stays when an input is accepted", async (store) => {
    await save(store, said("a", "one"))
    await store.keepDraft("a", "so far", 1)
    const input = inputOf("i1", "two")
    await store.accept("a", input)
    same("the record", await store.load("a"), { ...said("a", "one"), inbox: [input], version: 1, draft: "so far" })
  })
]

const takeLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(
    make,
    "inputs wait until an entry takes them, whatever is saved meanwhile, and those accepted later are behind them",
    async (store) => {
      await acceptAll(store, "a", [inputOf("i1", "1"), inputOf("i2", "2"), inputOf("i3", "3")])
      await save(store, said("a", "one"), { after: 0 })
      same("the inputs", await waiting(store, "a"), ["i1", "i2", "i3"])
      await save(store, said("a", "2"), { after: 1, takes: ["i2", "unknown"] })
      same("the inputs", await waiting(store, "a"), ["i1", "i3"])
      await store.accept("a", inputOf("i2", "again"))
      same("the inputs", await waiting(store, "a"), ["i1", "i3", "i2"])
      await save(store, said("a", "2", "3"), { after: 2, takes: ["i1", "i3"] })
      await save(store, said("a", "2", "3"), { after: 3, takes: ["i1", "i3"] })
      same("the inputs", await waiting(store, "a"), ["i2"])
      await save(store, said("a", "2"), { after: 4, takes: ["i2"] })
      await store.accept("a", inputOf("i4", "4"))
      same("the inputs", await waiting(store, "a"), ["i4"])
    }
  ),
  storeLaw(make, "a save that is refused takes nothing", async (store) => {
    await save(store, said("a", "one"), { after: 0 })
    await store.accept("a", inputOf("i1", "1"))
    const late = () => save(store, said("a", "late"), { after: 0, takes: ["i1"] })
    await refuses("a save", "store_conflict", late)
    same("the inputs", await waiting(store, "a"), ["i1"])
  }),
  storeLaw(make, "the inbox of a record is no part of an entry, and no input of it waits", async (store) => {
    const one = inputOf("i1", "1")
    await store.accept("a", one)
    await save(store, { ...said("a", "one"), inbox: [inputOf("i2", "2"), inputOf("i1", "other")] }, { after: 0 })
    same("the entry", await store.at("a", 1), { ...said("a", "one"), version: 1 })
    same("its state", (await store.history("a"))[0]?.state.inbox, undefined)
    same("the record", await store.load("a"), { ...said("a", "one"), inbox: [one], version: 1 })
  })
]

const ttlMs = 1_000

const lifeLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a rewind keeps the waiting inputs, and a fork has none", async (store) => {
    await save(store, said("a", "one"))
    await save(store, said("a", "one", "two"))
    const input = inputOf("i1", "three")
    await store.accept("a", input)
    same("the fork", await store.fork("a", "b", 1), { ...said("b", "one"), version: 1 })
    same("what is loaded of it", await store.load("b"), { ...said("b", "one"), version: 1 })
    const rewound = { ...said("a", "one"), inbox: [input], version: 3 }
    same("the rewind", await store.rewind("a", 1), rewound)
    same("the record", await store.load("a"), rewound)
    same("its entry", await store.at("a", 3), { ...said("a", "one"), version: 3 })
    same("the beginning", await store.rewind("a", 0), { ...Store.blank("a"), inbox: [input], version: 4 })
    await store.accept("c", input)
    same("the beginning of nothing", await store.rewind("c", 0), { ...Store.blank("c"), inbox: [input], version: 1 })
  }),
  storeLaw(make, "the waiting inputs of a deleted conversation are gone", async (store) => {
    await acceptAll(store, "a", [inputOf("i1", "1")])
    await save(store, said("b", "one"))
    await acceptAll(store, "b", [inputOf("i1", "1")])
    for (const id of ["a", "b"]) {
      await store.delete(id)
      same("what the store has", await everything(store, id), [undefined, []])
      await save(store, said(id, "anew"))
      same("the record", await store.load(id), { ...said(id, "anew"), version: 1 })
    }
  }),
  storeLaw(
    make,
    "a conversation expires when it had no input for the time to live",
    async (store, clock) => {
      for (const id of ["old", "spoken"]) await save(store, said(id, "one"))
      await store.accept("old input", inputOf("i1", "1"))
      await clock.advance(1)
      await store.accept("spoken", inputOf("i1", "1"))
      await store.accept("new input", inputOf("i1", "1"))
      await clock.advance(ttlMs)
      same("how many expired", await store.expire(), 2)
      same("the list", (await store.list()).chats.map(({ id }) => id).toSorted(), ["new input", "spoken"])
      await clock.advance(1)
      same("how many expired", await store.expire(), 2)
      same("what the store has", await everything(store, "spoken"), [undefined, []])
    },
    ttlMs
  )
]
