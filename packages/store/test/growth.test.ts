import { statSync } from "node:fs"
import { type LocalChatRef, Troupe, user } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import { type Conversation, Store } from "@troupe/chat/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { postgres, sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"
import { type PostgresAddress, workerPostgres } from "./double/postgresServer.ts"
import { queries } from "./double/queries.ts"
import { recordOf, save } from "./double/records.ts"

let server: PostgresAddress
const folder = new Folder()
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)
afterAll(() => folder[Symbol.dispose]())

let schemas = 0
const stores: Readonly<Record<string, () => Store.SessionStore>> = {
  memory: () => Store.memory(),
  SQLite: () => sqlite(folder.file(), { durability: "process" }),
  PostgreSQL: () => postgres(server.url, { schema: `growth_${process.pid}_${++schemas}`, maxConnections: 2 })
}

/** The heap after collections. */
const heapBytes = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    if (gc === undefined) throw new Error("run this with --expose-gc")
    gc()
  }
  return process.memoryUsage().heapUsed
}

/** Bytes of each message. */
const text = 500

/** A text that shares its bytes with no other. */
const textOf = (at: number): string => `${at} `.padEnd(text, String.fromCodePoint(97 + (at % 26))).slice(0, text)

/** The Fake keeps its requests, and this adapter does not. */
const adapter: Adapter.Adapter = {
  name: "talker",
  stream: async function* ({ messages }) {
    const said = textOf(messages.length)
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    yield { type: "text_completed", id: null, text: said }
    yield { type: "message_completed", message: { role: "assistant", content: said }, finishReason: "stop" }
  }
}

describe.each(Object.keys(stores))("STAND4. the memory of a store (%s)", (name) => {
  const open = (): Store.SessionStore => stores[name]?.() ?? Store.memory()

  test("grows by the text of what is added, however long the conversation is", { timeout: 120_000 }, async () => {
    const store = open()
    let record: Conversation | undefined
    const grow = async (to: number): Promise<number> => {
      for (let after = record?.version ?? 0; after < to; after++) {
        const messages = [user(textOf(after))]
        record = await store.append("a", [{ type: "MessagesAdded", messages }], { after, record })
      }
      return heapBytes()
    }
    const short = await grow(200)
    const long = await grow(1_200)
    expect((long - short) / 1_000).toBeLessThan(3 * text)
    await store.close()
  })

  test("is back where it was after stop, but for the thread of a chat that is held", { timeout: 120_000 }, async () => {
    const store = open()
    const talk = async (id: string, turns: number): Promise<LocalChatRef> => {
      const troupe = await Troupe.start({ adapter, store })
      const chat = await troupe.chat(id)
      for (let at = 0; at < turns; at++) await chat.send(textOf(at)).result()
      await troupe.stop()
      return chat
    }
    const turns = 250
    const said = 2 * turns * text
    // The code that runs keeps some memory of its own until it has run often.
    for (let times = 0; times < 4; times++) await talk(`warm ${times}`, turns)
    const baseline = await heapBytes()
    const held = [await talk("b", turns)]
    expect((await heapBytes()) - baseline).toBeLessThan(5 * said)
    held.length = 0
    // A store in memory keeps the conversation itself.
    expect((await heapBytes()) - baseline).toBeLessThan(name === "memory" ? 5 * said : said)
    await store.close()
  })
})

/** Bytes of each waiting input. */
const inputBytes = 95_000

const inputOf = (at: number) =>
  ({ id: `i${at}`, named: true, whenBusy: "queue", message: user(`${at} `.padEnd(inputBytes, "x")) }) as const

/** The bytes of the rows of waiting inputs, and of everything else that grows. */
const sizes: Readonly<Record<string, (where: string) => Promise<number>>> = {
  SQLite: async (path) => statSync(path).size + statSync(`${path}-wal`).size,
  PostgreSQL: async (schema) => {
    const tables = ["chats", "commits", "items", "inbox"].map(
      (table) => `pg_total_relation_size('"${schema}".${table}')`
    )
    const [row] = await queries(server.url, [`SELECT ${tables.join(" + ")} AS bytes`])
    return Number(row?.["bytes"])
  }
}

describe("SQLBOX1. a thousand waiting inputs of 95 kB", () => {
  /** Accepts inputs; returns the milliseconds of processor time of each. */
  const cost = async (store: Store.SessionStore, from: number, to: number): Promise<number> => {
    const { user: begun, system } = process.cpuUsage()
    for (let at = from; at < to; at++) await store.accept("a", inputOf(at))
    const { user: done, system: later } = process.cpuUsage()
    return (done - begun + later - system) / 1_000 / (to - from)
  }

  test.each(Object.keys(stores))("cost what was sent, in size and time (%s)", { timeout: 240_000 }, async (name) => {
    const where = name === "SQLite" ? folder.file() : `growth_${process.pid}_${++schemas}`
    const store =
      name === "memory"
        ? Store.memory()
        : name === "SQLite"
          ? sqlite(where, { durability: "process" })
          : postgres(server.url, { schema: where, maxConnections: 2 })
    await save(store, recordOf("a", [user("Hello")]), { after: 0 })
    await cost(store, 0, 100)
    const early = await cost(store, 100, 300)
    await cost(store, 300, 800)
    const late = await cost(store, 800, 1_000)
    expect(late).toBeLessThan(2 * early + 1)
    const size = await sizes[name]?.(where)
    if (size !== undefined) expect(size).toBeLessThan(3 * 1_000 * inputBytes)
    const record = await store.load("a")
    expect(record?.inbox?.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, at) => `i${at}`))
    // Entries do not carry the inputs that wait.
    for (let after = 1; after < 60; after++) {
      const messages = [user(`${after}`)]
      await store.append("a", [{ type: "MessagesAdded", messages }], { after, takes: [`i${after - 1}`] })
    }
    const grown = await sizes[name]?.(where)
    if (size !== undefined && grown !== undefined) expect(grown - size).toBeLessThan(20 * inputBytes)
    expect((await store.list({ running: true })).chats[0]?.waiting).toBe(941)
    await store.close()
  })
})

/** A model that never answers, so that every input waits. */
const silent: Adapter.Adapter = {
  name: "silent",
  stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })
}

describe("SQLBOX1. the inputs that wait behind a running turn", () => {
  test("write what was sent: 1,000 inputs of 95 kB", { timeout: 120_000 }, async () => {
    const large = "x".repeat(95_000)
    const sizeOf = async (count: number): Promise<number> => {
      const file = folder.file()
      const store = sqlite(file, { durability: "process" })
      const troupe = await Troupe.start({ adapter: silent, store, maxWaitingInputs: 1_001, maxWaitingBytes: 1e9 })
      const chat = await troupe.chat("c")
      await chat.send("go").receipt
      // A hundred at a time: the store has five seconds for each.
      for (let sent = 0; sent < count; sent += 100) {
        const turns = Array.from({ length: 100 }, () => chat.send(large))
        for (const turn of turns) expect(await turn.receipt).toEqual({ status: "pending" })
      }
      await troupe.stop()
      expect((await store.load("c"))?.inbox).toHaveLength(count)
      await store.close()
      return statSync(file).size
    }
    const few = await sizeOf(100)
    const many = await sizeOf(1_000)
    expect(many / few).toBeLessThan(11)
    expect(many).toBeLessThan(1_000 * large.length * 1.2)
  })
})
