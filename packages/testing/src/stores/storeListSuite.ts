/** The laws of a store's list. */
import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, save } from "./storeLaw.ts"
import { inputOf, recordWith, said } from "./storeSamples.ts"

const idsOf = async (store: Store.SessionStore, options?: Store.ListOptions): Promise<ReadonlyArray<string>> =>
  (await store.list(options)).chats.map(({ id }) => id)

const fill = async (store: Store.SessionStore, ids: ReadonlyArray<string>): Promise<void> => {
  for (const id of ids) await save(store, said(id, "Hello"))
}

/** Reads all pages, and calls `between` after each. */
const pages = async (
  store: Store.SessionStore,
  options: Store.ListOptions,
  between: (page: ReadonlyArray<string>) => unknown = () => {}
): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const found: Array<ReadonlyArray<string>> = []
  let after: string | undefined
  do {
    const { chats, next } = await store.list({ ...options, after })
    const page = chats.map(({ id }) => id)
    found.push(page)
    await between(page)
    after = next
  } while (after !== undefined && found.length < 100)
  return found
}

const hello: Conversation = recordWith("a", [
  { role: "system", content: "Be brief." },
  user("What  is\nthe time?"),
  Message.assistant("Noon."),
  user("Thanks")
])

export const listLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "a list shows of each conversation what its newest record says", async (store, clock) => {
    same("the list", await store.list(), { chats: [] })
    await clock.advance(3)
    await save(store, { ...hello, running: true })
    await clock.advance(4)
    await save(store, hello)
    const summary = {
      id: "a",
      title: "What is the time?",
      seq: 2,
      messages: 4,
      createdAt: 3,
      updatedAt: 7,
      running: false,
      waiting: 0
    }
    same("the list", await store.list(), { chats: [summary] })
    await clock.advance(5)
    await store.rewind("a", 1)
    same("the list", await store.list(), { chats: [{ ...summary, seq: 3, updatedAt: 12, running: true }] })
  }),
  storeLaw(
    make,
    "a list of the running conversations has those that ran at their last write, and those with waiting inputs",
    async (store) => {
      const running = { running: true } as const
      for (const id of ["a/ran", "a/runs", "a/rests", "b/runs"]) await save(store, { ...said(id, "Hello"), ...running })
      await save(store, said("a/ran", "Hello"))
      await save(store, said("a/rests", "Hello"))
      await store.accept("a/ran", inputOf("i1", "1"))
      await store.accept("a/ran", inputOf("i2", "2"))
      await store.accept("b/new", inputOf("i1", "1"))
      const { chats } = await store.list(running)
      same(
        "the list",
        chats.map((chat) => [chat.id, chat.running, chat.waiting]),
        [
          ["b/new", false, 1],
          ["a/ran", false, 2],
          ["b/runs", true, 0],
          ["a/runs", true, 0]
        ]
      )
      same("those of a prefix", await idsOf(store, { ...running, prefix: "a/" }), ["a/ran", "a/runs"])
      same("those of a search", await idsOf(store, { ...running, search: "hello" }), ["a/ran", "b/runs", "a/runs"])
      same("those of both", await idsOf(store, { ...running, search: "hello", prefix: "b/" }), ["b/runs"])
      same("all", (await store.list({ running: false })).chats.length, 5)
      same("the pages", await pages(store, { ...running, limit: 3 }), [["b/new", "a/ran", "b/runs"], ["a/runs"]])
      await save(store, said("a/ran", "Hello"), { after: 2, takes: ["i1"] })
      same("what waits", (await store.list({ prefix: "a/ran" })).chats[0]?.waiting, 1)
      await save(store, said("a/ran", "Hello"), { after: 3, takes: ["i2"] })
      same("those of a prefix", await idsOf(store, { ...running, prefix: "a/" }), ["a/runs"])
      const task = { id: "t", toolCallId: "c1", tool: "dig", arguments: {}, key: "k", startedAt: 1 }
      await save(store, { ...said("a/ran", "Hello"), tasks: [task] }, { after: 4 })
      same("with a task", await idsOf(store, { ...running, prefix: "a/" }), ["a/ran", "a/runs"])
      same("the task", (await store.load("a/ran"))?.tasks, [task])
    }
  ),
  storeLaw(
    make,
    "a list leaves the conversations of sub-agents out, unless it is asked for them or has their prefix",
    async (store) => {
      await fill(store, ["chat/1", "chat/1/~/a", "chat/1/~/b", "chat/2"])
      same("the list", await idsOf(store), ["chat/2", "chat/1"])
      same("with a prefix", await idsOf(store, { prefix: "chat/" }), ["chat/2", "chat/1"])
      same("with a search", await idsOf(store, { search: "hello" }), ["chat/2", "chat/1"])
      same("with both", await idsOf(store, { prefix: "chat/", search: "hello" }), ["chat/2", "chat/1"])
      same("when asked", await idsOf(store, { children: true }), ["chat/2", "chat/1/~/b", "chat/1/~/a", "chat/1"])
      same("with their prefix", await idsOf(store, { prefix: "chat/1/~/" }), ["chat/1/~/b", "chat/1/~/a"])
      same("the bucket", Store.bucketOf("chat/1/~/a"), Store.bucketOf("chat/1"))
    }
  ),
  storeLaw(make, "a list of buckets has the conversations whose ids are in them", async (store) => {
    const ids = ["", "a", "ä", "\u{1F600}", "conversation-42", ...Array.from({ length: 60 }, (_, at) => `chat/${at}`)]
    await fill(store, ids.slice(1, 40))
    for (const id of ids.slice(40)) await store.accept(id, inputOf("i1", "1"))
    await store.fork("a", "chat/fork")
    const bucketIn = (buckets: ReadonlyArray<number>) => (id: string) => buckets.includes(Store.bucketOf(id))
    const all = await idsOf(store, { limit: 100 })
    for (const buckets of [[2_348], [226, 1_544], [4_095], [], all.slice(0, 30).map(Store.bucketOf)]) {
      const found = all.filter(bucketIn(buckets))
      same(`those of ${buckets.join()}`, await idsOf(store, { bucket: buckets, limit: 100 }), found)
      const waiting = found.filter((id) => ids.indexOf(id) >= 40)
      same("those that run", await idsOf(store, { bucket: buckets, running: true, limit: 100 }), waiting)
      const owned = found.filter((id) => id.startsWith("chat/"))
      same("those of a prefix", await idsOf(store, { bucket: buckets, prefix: "chat/", limit: 100 }), owned)
      const saved = found.filter((id) => !waiting.includes(id))
      same("those of a search", await idsOf(store, { bucket: buckets, search: "hello", limit: 100 }), saved)
      same("the pages", (await pages(store, { bucket: buckets, limit: 7 })).flat(), found)
    }
    same("those of one", await idsOf(store, { bucket: Store.bucketOf("ä") }), ["ä"])
    for (const bucket of [-1, 1.5, 4_096, Number.NaN, [0, 4_096]]) {
      await refuses(`the bucket ${String(bucket)}`, "invalid_options", () => store.list({ bucket }))
    }
  }),
  storeLaw(make, "times are whole milliseconds, on a clock that has parts of them too", async (store, clock) => {
    await clock.advance(3.7)
    await save(store, hello)
    await clock.advance(4.2)
    await save(store, { ...hello, running: true })
    const times = (await store.list()).chats.map(({ createdAt, updatedAt }) => [createdAt, updatedAt])
    same("the list", times, [[3, 7]])
    same(
      "the history",
      (await store.history("a")).map(({ at }) => at),
      [3, 7]
    )
  }),
  storeLaw(
    make,
    "a title is the beginning of the first thing the user said, in one line of 80 characters",
    async (store) => {
      const titleOf = async (record: Conversation) => {
        await save(store, record)
        return (await store.list()).chats[0]?.title
      }
      const hooked = { ...user("nobody said this"), metadata: { injected_by: "UserPromptSubmit" } }
      same("the title", await titleOf(recordWith("a", [Message.assistant("Hi.")])), "")
      same("the title", await titleOf(recordWith("a", [hooked, user("this")])), "this")
      same("the title", await titleOf(said("b", "\u{1F600}".repeat(80))), "\u{1F600}".repeat(80))
      same("the title", await titleOf(said("d", `a${" ".repeat(1_598)}\u{1F600}`)), "a")
      same("the title", await titleOf(said("c", "\u{1F600}".repeat(81))), `${"\u{1F600}".repeat(79)}…`)
    }
  ),
  storeLaw(make, "a list begins with what was written last, also at the same moment", async (store) => {
    await fill(store, ["a", "b", "c", "d"])
    await save(store, said("b", "again"))
    await store.fork("c", "e")
    await store.rewind("a", 1)
    await store.keepDraft("d", "a draft is no entry", 1)
    same("the list", await idsOf(store), ["a", "e", "b", "d", "c"])
  }),
  storeLaw(make, "the pages of a list have every conversation once, and 50 of them by default", async (store) => {
    const ids = Array.from({ length: 55 }, (_, index) => `chat ${index}`)
    await fill(store, ids)
    const newestFirst = ids.toReversed()
    same("the pages", await pages(store, {}), [newestFirst.slice(0, 50), newestFirst.slice(50)])
    same("the pages", (await pages(store, { limit: 11 })).flat(), newestFirst)
    same("how many pages there are", (await pages(store, { limit: 11 })).length, 5)
    same("how many pages there are", (await pages(store, { limit: 55 })).length, 1)
  }),
  storeLaw(
    make,
    "what is written, begun or deleted between two pages neither repeats nor hides any other",
    async (store) => {
      const ids = Array.from({ length: 12 }, (_, index) => `chat ${index}`)
      await fill(store, ids)
      let page = 0
      const found = await pages(store, { limit: 3 }, async ([first = ""]) => {
        page += 1
        await save(store, said(first, "written since"))
        await save(store, said(`new ${page}`, "begun since"))
        if (page === 1) await store.delete("chat 5")
      })
      same(
        "the pages",
        found.flat(),
        ids.toReversed().filter((id) => id !== "chat 5")
      )
    }
  ),
  storeLaw(make, "a prefix is what the id begins with, letter by letter", async (store) => {
    await fill(store, [
      "user:1",
      "user:2",
      "User:1",
      "user_1",
      "userx1",
      "%",
      "%%",
      "ä1",
      "\u{1F600}1",
      "[a]",
      "*",
      "'q"
    ])
    const begins: Readonly<Record<string, ReadonlyArray<string>>> = {
      "user:": ["user:1", "user:2"],
      user_: ["user_1"],
      "%": ["%", "%%"],
      ä: ["ä1"],
      "\u{1F600}": ["\u{1F600}1"],
      "[a": ["[a]"],
      "*": ["*"],
      "'": ["'q"],
      "\\": [],
      "\0": []
    }
    for (const [prefix, ids] of Object.entries(begins)) {
      same(`what begins with ${prefix}`, (await idsOf(store, { prefix })).toSorted(), ids)
    }
    same("the pages", await pages(store, { prefix: "user:", limit: 1 }), [["user:2"], ["user:1"]])
  }),
  storeLaw(
    make,
    "a search finds text of any message of the newest record, in any case, letter by letter",
    async (store) => {
      const texts: Readonly<Record<string, string>> = {
        percent: "100% sure",
        plain: "1000 sure",
        line: "snake_case",
        dash: "snake-case",
        quote: `O'Hara said "no"`,
        umlaut: "ÄRGER in Łódź",
        face: "so \u{1F600}!",
        star: "a*b [c] \\d"
      }
      for (const [id, text] of Object.entries(texts)) {
        await save(store, recordWith(id, [user("Hello"), Message.assistant(text), user("Thanks")]))
      }
      await save(
        store,
        recordWith("parts", [
          user([
            { type: "text", text: "Look: " },
            { type: "text", text: "a NEEDLE" }
          ]),
          Message.assistant("Hm.")
        ])
      )
      const finds: Readonly<Record<string, ReadonlyArray<string>>> = {
        "0%": ["percent"],
        E_C: ["line"],
        "o'h": ["quote"],
        '"NO"': ["quote"],
        ärger: ["umlaut"],
        łÓd: ["umlaut"],
        "\u{1F600}!": ["face"],
        "*B": ["star"],
        "[c]": ["star"],
        "\\D": ["star"],
        needle: ["parts"],
        user: [],
        "\0": []
      }
      for (const [search, ids] of Object.entries(finds)) {
        same(`what has ${search}`, await idsOf(store, { search }), ids)
      }
      same("what has nothing", (await idsOf(store, { search: "" })).length, 9)
      same("the pages", (await pages(store, { search: "THANKS", limit: 3 })).flat().length, 8)
      same("both", await idsOf(store, { prefix: "p", search: "sure" }), ["plain", "percent"])
    }
  ),
  storeLaw(make, "a search finds what a record has, not what earlier ones had", async (store) => {
    await save(store, said("a", "apple"))
    await save(store, said("a", "apple", "pear"))
    await store.fork("a", "b")
    await save(store, said("a", "plum"))
    same("what has pear", await idsOf(store, { search: "pear" }), ["b"])
    await store.rewind("a", 1)
    same("what has apple", await idsOf(store, { search: "apple" }), ["a", "b"])
    same("what has plum", await idsOf(store, { search: "plum" }), [])
  }),
  storeLaw(make, "a search finds the result of a tool call, and no text of its error", async (store) => {
    const call = Message.assistant("", [{ id: "t1", name: "look", arguments: {} }])
    const result = (outcome: "completed" | "failed") =>
      ({ role: "tool", toolCallId: "t1", content: `It ${outcome}: sesame`, outcome }) as const
    await save(store, recordWith("went well", [user("Look"), call, result("completed")]))
    await save(store, recordWith("went wrong", [user("Look"), call, result("failed")]))
    same("what has the word", await idsOf(store, { search: "sesame" }), ["went well"])
    same("what was said", (await idsOf(store, { search: "look" })).length, 2)
  }),
  storeLaw(
    make,
    "a search in messages finds the words of a question, the best message first, in one conversation or below a prefix",
    async (store) => {
      if (store.search === undefined) return
      await save(store, said("anna/1", "The umbrella is red", "Talking of umbrellas, it rains in Oslo", "The end"))
      await save(store, said("anna/2", "An umbrella costs ten"))
      await save(store, said("ben/1", "My umbrella"))
      const placesOf = async (options: Store.Lists.SearchOptions): Promise<ReadonlyArray<string>> =>
        ((await store.search?.(options)) ?? []).map(({ chat, place }) => `${chat} ${place}`)
      const question = "Does it rain in OSLO, with an umbrella?"
      same("the best of one", (await placesOf({ query: question, chat: "anna/1" }))[0], "anna/1 1")
      same("all of one", (await placesOf({ query: "umbrella", chat: "anna/1" })).toSorted(), ["anna/1 0", "anna/1 1"])
      same("those of anna", (await placesOf({ query: "umbrella", prefix: "anna/" })).length, 3)
      same("at most", (await placesOf({ query: "umbrella", limit: 2 })).length, 2)
      same("no word", await placesOf({ query: "'?\"*", chat: "anna/1" }), [])
      await save(store, said("anna/1", "Nothing of it"))
      same("what the record has no more", await placesOf({ query: "umbrella", chat: "anna/1" }), [])
      await store.delete("anna/2")
      same("after a deletion", await placesOf({ query: "umbrella", prefix: "anna/" }), [])
      await refuses("a limit of 0", "invalid_options", () => store.search?.({ query: "a", limit: 0 }))
    }
  ),
  storeLaw(make, "a list refuses a limit that is none, and what is the next of no page", async (store) => {
    await fill(store, ["a"])
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await refuses(`a limit of ${limit}`, "invalid_options", () => store.list({ limit }))
    }
    for (const after of ["", "a", "{}", "1;", "-1"]) {
      await refuses(`the cursor ${after}`, "invalid_options", () => store.list({ after }))
    }
  })
]
