/** The laws of the memories of a store. */
import { Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, save } from "./storeLaw.ts"
import { inputOf, said } from "./storeSamples.ts"

type Memories = NonNullable<Store.SessionStore["memories"]>

/** A law of the stores that keep memories; another store has no such laws. */
const memoryLaw = (
  make: MakeStore,
  title: string,
  check: (
    memories: Memories,
    store: Store.SessionStore,
    clock: Parameters<Parameters<typeof storeLaw>[2]>[1]
  ) => Promise<void>
): Law =>
  storeLaw(make, title, async (store, clock) =>
    store.memories === undefined ? undefined : check(store.memories, store, clock)
  )

const remember = (id: string, text: string): Store.Lists.MemoryChange => ({ type: "remember", id, text })
const forget = (id: string): Store.Lists.MemoryChange => ({ type: "forget", id })

const listed = async (memories: Memories, scope: string): Promise<ReadonlyArray<string>> =>
  (await memories.list(scope)).memories.map(({ id }) => id)

export const memoryLaws = (make: MakeStore): ReadonlyArray<Law> => [
  memoryLaw(
    make,
    "a memory is recalled by its words, in its scope alone, with its id, text and time",
    async (memories, _, clock) => {
      await clock.advance(7)
      await memories.change("anna/", [
        remember("m1", "Anna drinks green tea."),
        remember("m2", "Her dog is called Rex.")
      ])
      await memories.change("bob/", [remember("m1", "Bob drinks black tea.")])
      const tea = { id: "m1", text: "Anna drinks green tea.", at: 7 }
      same("what is recalled", await memories.recall("anna/", { query: "Which tea does she drink?" }), [tea])
      same("in a scope of the same beginning", await memories.recall("anna/1", { query: "tea" }), [])
      same("without a word", await memories.recall("anna/", { query: "?!" }), [])
      same("a word of no memory", await memories.recall("anna/", { query: 'scope OR "carol" hex' }), [])
      same("the scope of another", await listed(memories, "bob/"), ["m1"])
    }
  ),
  memoryLaw(make, "the memory with more and rarer words of the query comes first", async (memories) => {
    await memories.change("a", [
      remember("m1", "The meeting is on Monday."),
      remember("m2", "The red umbrella is at the office, and the meeting too."),
      remember("m3", "The office is closed.")
    ])
    const found = await memories.recall("a", { query: "red umbrella at the office", limit: 1 })
    same(
      "the best",
      found.map(({ id }) => id),
      ["m2"]
    )
  }),
  memoryLaw(make, "the same operation twice is one memory, and the first text stays", async (memories) => {
    await memories.change("a", [remember("m1", "One"), remember("m1", "Two")])
    await memories.change("a", [remember("m1", "Three")])
    same(
      "the list",
      (await memories.list("a")).memories.map(({ text }) => text),
      ["One"]
    )
  }),
  memoryLaw(
    make,
    "a forgotten memory is neither listed nor recalled, and the operation that added it does not add it again",
    async (memories) => {
      await memories.change("a", [remember("m1", "green tea"), remember("m2", "black tea")])
      await memories.change("a", [forget("m1"), forget("unknown"), remember("m1", "green tea")])
      await memories.change("b", [forget("m2")])
      same("the list", await listed(memories, "a"), ["m2"])
      same(
        "what is recalled",
        (await memories.recall("a", { query: "tea" })).map(({ id }) => id),
        ["m2"]
      )
    }
  ),
  memoryLaw(make, "a list has pages, the newest first, and each memory on exactly one", async (memories) => {
    await memories.change(
      "a",
      Array.from({ length: 5 }, (_, at) => remember(`m${at}`, `text ${at}`))
    )
    const first = await memories.list("a", { limit: 3 })
    same(
      "the first page",
      first.memories.map(({ id }) => id),
      ["m4", "m3", "m2"]
    )
    const second = await memories.list("a", { limit: 3, after: first.next })
    same(
      "the second page",
      second.memories.map(({ id }) => id),
      ["m1", "m0"]
    )
    same("its next", second.next, undefined)
  }),
  memoryLaw(make, "a scope keeps its newest 1,000 memories", async (memories) => {
    await memories.change("b", [remember("other", "stays")])
    await memories.change(
      "a",
      Array.from({ length: Store.Lists.mostMemories + 2 }, (_, at) => remember(`m${at}`, `text ${at}`))
    )
    const { memories: kept } = await memories.list("a", { limit: 1_000 })
    same("how many", kept.length, Store.Lists.mostMemories)
    same("the oldest", kept.at(-1)?.id, "m2")
    same("the other scope", await listed(memories, "b"), ["other"])
  }),
  memoryLaw(make, "a scope has at most 1,000 memories when many are added at once", async (memories) => {
    const most = Store.Lists.mostMemories
    await memories.change(
      "a",
      Array.from({ length: most }, (_, at) => remember(`m${at}`, `text ${at}`))
    )
    await Promise.all(Array.from({ length: 20 }, async (_, at) => memories.change("a", [remember(`n${at}`, "tea")])))
    const { memories: kept, next } = await memories.list("a", { limit: most })
    same("how many", [kept.length, next], [most, undefined])
    same("the new ones", kept.filter(({ text }) => text === "tea").length, 20)
  }),
  memoryLaw(make, "the memories of a write are stored with its entries, or not at all", async (memories, store) => {
    const changes = { scope: "a", changes: [remember("m1", "tea")] }
    await save(store, said("c", "Hello"), { after: 0, memories: changes })
    same("after the write", await listed(memories, "a"), ["m1"])
    const late = { scope: "a", changes: [remember("m2", "coffee")] }
    await refuses("a write that comes too late", "store_conflict", () =>
      save(store, said("c", "Again"), { after: 0, memories: late })
    )
    same("after the refusal", await listed(memories, "a"), ["m1"])
    await store.accept("c", inputOf("i1", "Again"))
    await refuses("a write with an invalid scope", "invalid_options", () =>
      save(store, said("c", "Again"), { takes: ["i1"], memories: { ...late, scope: "" } })
    )
    same("the input of that write", (await store.load("c"))?.inbox?.length, 1)
    await store.delete("c")
    same("after the deletion of the conversation", await listed(memories, "a"), ["m1"])
  }),
  memoryLaw(make, "any text is a scope, an id and a memory, and an invalid option is refused", async (memories) => {
    const odd = `"'%_\\ * OR NEAR( ünïcødé 日本 ${"x".repeat(400)}`
    await memories.change(odd, [remember(odd.slice(0, 200), odd)])
    same(
      "the list",
      (await memories.list(odd)).memories.map(({ id, text }) => [id, text]),
      [[odd.slice(0, 200), odd]]
    )
    same("what is recalled", (await memories.recall(odd, { query: odd })).length, 1)
    await refuses("an empty scope", "invalid_options", () => memories.list(""))
    await refuses("a scope that is no text", "invalid_options", () => memories.change(1 as never, []))
    await refuses("a limit of 0", "invalid_options", () => memories.recall("a", { query: "tea", limit: 0 }))
    await refuses("a cursor that is none", "invalid_options", () => memories.list("a", { after: "x" }))
  })
]
