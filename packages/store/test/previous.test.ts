import { Fake, Troupe, user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { postgres, sqlite } from "../src/index.ts"
import { says } from "./double/conversations.ts"
import { Folder } from "./double/folder.ts"
import { type PostgresAddress, workerPostgres } from "./double/postgresServer.ts"
import { type PreviousBuild, previousBuild, type PreviousStore } from "./double/previousBuild.ts"
import { recordOf, said, save } from "./double/records.ts"

let server: PostgresAddress
let previous: PreviousBuild
const folder = new Folder()
beforeAll(async () => {
  server = await workerPostgres()
  previous = await previousBuild(folder)
}, 60_000)
afterAll(() => folder[Symbol.dispose]())

/** A store of each build, on one database; the previous build creates it. */
interface Both {
  readonly before: PreviousStore
  readonly now: Store.SessionStore
}

let schemas = 0
const databases: Readonly<Record<string, () => Promise<Both>>> = {
  SQLite: async () => {
    const path = folder.file(`both ${++schemas}.db`)
    return { before: previous.store.sqlite(path) as unknown as PreviousStore, now: sqlite(path) }
  },
  PostgreSQL: async () => {
    const options = { schema: `both_${process.pid}_${++schemas}` }
    const before = previous.store.postgres(server.url, options) as unknown as PreviousStore
    await before.list()
    return { before, now: postgres(server.url, options) }
  }
}

const bothOf = async (name: string): Promise<Both> => {
  const open = databases[name]
  if (open === undefined) throw new Error(`There is no ${name}`)
  return open()
}

const closed = async ({ before, now }: Both): Promise<void> => {
  await before.close()
  await now.close()
}

const inputOf = (id: string) => ({ id, named: true, whenBusy: "queue", message: user(`input ${id}`) }) as const

const textsOf = (record: Conversation | undefined): ReadonlyArray<string> =>
  record?.thread.messages.map((message) => Message.text(message)) ?? []

const waiting = async (store: Store.SessionStore, id: string): Promise<ReadonlyArray<string>> =>
  ((await store.load(id))?.inbox ?? []).map((input) => input.id)

/** Sends one message to the chat with that build, and ends. */
const talk = async (
  { Fake: fake, Troupe: troupes }: PreviousBuild["chat"],
  store: Store.SessionStore | PreviousStore,
  text: string
) => {
  const adapter = fake.make({ respond: () => says(`Answer to ${text}`) })
  const troupe = await troupes.start({ adapter, store })
  await (await troupe.chat("a")).send(text).result()
  await troupe.stop()
}

describe.each(Object.keys(databases))("the previous build and this one on one database in %s", (name) => {
  test("BUILD1. each loads, lists, saves and runs a conversation without waiting inputs after the other", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    await talk(previous.chat, before, "one")
    await talk({ Fake, Troupe }, now, "two")
    await talk(previous.chat, before, "three")
    await talk({ Fake, Troupe }, now, "four")
    const texts = ["one", "two", "three", "four"].flatMap((text) => [text, `Answer to ${text}`])
    expect(textsOf(await before.load("a"))).toEqual(texts)
    expect(textsOf(await now.load("a"))).toEqual(texts)
    expect((await before.history("a", { limit: 100 })).length).toBe((await now.history("a", { limit: 100 })).length)
    expect(await before.at("a", 3)).toEqual(await now.at("a", 3))
    expect(textsOf(await before.rewind("a", 2))).toEqual(["one", "Answer to one"])
    expect(textsOf(await now.fork("a", "b"))).toEqual(["one", "Answer to one"])
    const [chat] = (await before.list({ search: "one", prefix: "b" })).chats
    expect(chat?.id).toBe("b")
    await before.delete("a")
    expect(await now.load("a")).toBeUndefined()
    await closed(both)
  })

  test("BUILD2. the previous one opens a database that this one has written, and ignores inputs that wait in rows", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    await save(now, said("a", "one"), { after: 0 })
    await now.accept("a", inputOf("i1"))
    await now.accept("new", inputOf("i2"))
    expect(await before.load("a")).toEqual({ ...said("a", "one"), version: 1 })
    await before.save(said("a", "one", "two"), { writer: "w2", after: 1 })
    await before.rewind("a", 1)
    expect((await before.list()).chats.map(({ id, seq }) => [id, seq])).toEqual([
      ["a", 3],
      ["new", 0]
    ])
    expect(await waiting(now, "a")).toEqual(["i1"])
    expect(await waiting(now, "new")).toEqual(["i2"])
    await now.accept("a", inputOf("i3"))
    expect(await waiting(now, "a")).toEqual(["i1", "i3"])
    await closed(both)
  })

  test("BUILD5. a list of a bucket has the conversations that the previous one adds meanwhile", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    await before.save(said("a", "one"), { writer: "w1", after: 0 })
    for (const id of ["a", "ä", "conversation-42"]) {
      const bucket = Store.bucketOf(id)
      expect((await now.list({ bucket })).chats.map((chat) => chat.id)).toEqual(id === "a" ? ["a"] : [])
      await before.save(said(id, "one", "two"))
      expect((await now.list({ bucket })).chats.map((chat) => chat.id)).toEqual([id])
    }
    await closed(both)
  })

  test("BUILD6. what waits is listed after entries of the previous one, which go on beside the list", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    const asks = (id: string, question: string) =>
      recordOf(id, [user("Pay")], { pendingQuestion: { toolCallId: "c1", question, options: {} } })
    const listed = async () => ((await now.waiting?.())?.waits ?? []).map(({ chat, text }) => `${chat} ${text}`)
    await before.save(asks("a", "Which?"), { writer: "w1", after: 0 })
    await before.save(said("b", "Hello"), { writer: "w1", after: 0 })
    expect(await listed()).toEqual(["a Which?"])
    await before.save(said("a", "Pay", "This one"), { writer: "w1", after: 1 })
    await before.save(asks("b", "How many?"), { writer: "w1", after: 1 })
    expect(await listed()).toEqual(["b How many?"])
    await before.save(said("b", "Pay", "Two"), { writer: "w1", after: 2 })
    await save(now, asks("b", "Sure?"), { after: 3 })
    expect(await listed()).toEqual(["b Sure?"])
    await before.save(asks("b", "Really?"), { writer: "w2", after: 4 })
    await save(now, said("b", "Pay", "Yes"), { after: 5 })
    expect(await listed()).toEqual([])
    await before.delete("a")
    await closed(both)
  })

  test("BUILD3. inputs that the previous one stored in an entry become rows, and each runs once", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    const inbox = [inputOf("i1"), inputOf("i2")]
    await before.save({ ...said("a", "one"), running: true, inputs: ["i0"], inbox }, { writer: "w1", after: 0 })
    await now.accept("a", inputOf("i3"))
    expect(await waiting(now, "a")).toEqual(["i1", "i2", "i3"])
    const adapter = Fake.make({ respond: () => says("Yes.") })
    const troupe = await Troupe.start({ adapter, store: now })
    const chat = await troupe.chat("a")
    for (const turn of chat.resume()) await turn.result()
    await troupe.stop()
    expect(await waiting(now, "a")).toEqual([])
    const asked = (await now.load("a"))?.thread.messages.filter(({ role }) => role === "user") ?? []
    expect(asked.map((message) => Message.text(message))).toEqual(["one", "input i1", "input i2", "input i3"])
    expect((await before.load("a"))?.inbox).toBeUndefined()
    await closed(both)
  })

  test("BUILD4. the previous one takes inputs of its own entry after this one has loaded them, and none is doubled", async () => {
    const both = await bothOf(name)
    const { before, now } = both
    const first = recordOf("a", [user("one")], { inbox: [inputOf("i1"), inputOf("i2")] })
    await before.save(first, { writer: "w1", after: 0 })
    expect(await waiting(now, "a")).toEqual(["i1", "i2"])
    expect((await before.load("a"))?.inbox?.map(({ id }) => id)).toEqual(["i1", "i2"])
    const second = recordOf("a", [user("one"), inputOf("i1").message], { inbox: [inputOf("i2")] })
    await before.save(second, { writer: "w1", after: 1 })
    expect(await waiting(now, "a")).toEqual(["i2"])
    await closed(both)
  })
})
