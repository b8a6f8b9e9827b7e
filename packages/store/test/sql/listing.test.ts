import { Message } from "@troupe/chat/messages"
import { user } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { DatabaseSync } from "node:sqlite"
import { beforeAll, describe, expect, test } from "vitest"
import { dearer, type Measured } from "../../../chat/test/growth/cost.ts"
import { postgres, sqlite } from "../../src/index.ts"
import { openSqlite } from "../../src/sqlite/openSqlite.ts"
import { prefixRange } from "../../src/sql/listing.ts"
import type { Asking } from "../../src/sql/query.ts"
import { type Database, SqlStore } from "../../src/sql/sqlStore.ts"
import { Folder } from "../double/folder.ts"
import { type PostgresAddress, workerPostgres } from "../double/postgresServer.ts"
import { queries } from "../double/queries.ts"
import { recordOf, save } from "../double/records.ts"

const others = 10_000
const own = 20

/** One owner's conversations, each of three messages. */
const fill = async (store: Store.SessionStore): Promise<void> => {
  for (let at = 0; at < own; at++) {
    await save(store, recordOf(`anna/${at}`, [user(`Hello ${at}`), Message.assistant("A common word"), user("Thanks")]))
  }
}

/** What others have: rows as the store writes them, in one statement for each table. */
const rowsOfOthers = (prefix: string, series: string): ReadonlyArray<string> => [
  `INSERT INTO ${prefix}chats (id, bucket, seq, writer, written, title, messages, running, created_at, updated_at)
    SELECT 'other ' || n || '/chat', n % 4096, 1, NULL, 1000 + n, 'Hello', 1, 0, 0, 0 FROM ${series}`,
  `INSERT INTO ${prefix}commits (chat, seq, is_step, body)
    SELECT key, 1, 1, '{}' FROM ${prefix}chats WHERE id LIKE 'other %'`,
  `INSERT INTO ${prefix}items (chat, list, position, seq, body${prefix === "" ? "" : ", words"})
    SELECT key, 0, 0, 1, '{"role":"user","content":"A common word"}'${prefix === "" ? "" : ", 'a common word'"}
    FROM ${prefix}chats WHERE id LIKE 'other %'`
]

const sqliteOthers = rowsOfOthers(
  "",
  `(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${others}) SELECT n FROM counted)`
)

const asks: ReadonlyArray<Store.ListOptions> = [
  { prefix: "anna/" },
  { prefix: "anna/1" },
  { prefix: "anna/", search: "common" },
  { prefix: "anna/", search: "hello 1", limit: 5 },
  { prefix: "anna/", search: "ab" }
]

/** Asks everything of one owner, some times. */
const asking = (store: Store.SessionStore, times: number): Measured => ({
  run: async () => {
    for (let at = 0; at < times; at++) for (const options of asks) await store.list(options)
  }
})

const idsOf = async (store: Store.SessionStore, options: Store.ListOptions): Promise<ReadonlyArray<string>> =>
  (await store.list(options)).chats.map(({ id }) => id)

const expectOwn = async (store: Store.SessionStore): Promise<void> => {
  const all = Array.from({ length: own }, (_, at) => `anna/${own - 1 - at}`)
  expect(await idsOf(store, { prefix: "anna/" })).toEqual(all)
  expect(await idsOf(store, { prefix: "anna/", search: "COMMON" })).toEqual(all)
  expect(await idsOf(store, { prefix: "anna/", search: "hello 7" })).toEqual(["anna/7"])
}

test("the range of a prefix has the texts that begin with it, in the order of their bytes", () => {
  const texts = [
    "",
    "a",
    "a/",
    "a/b",
    "a0",
    "b",
    "\u{D7FF}",
    "\u{D7FF}x",
    "\u{E000}",
    "\u{10FFFF}",
    "\u{10FFFF}b",
    "z\u{10FFFF}"
  ]
  for (const prefix of [...texts.slice(1), "a\u{10FFFF}"]) {
    const { from, to } = prefixRange(prefix)
    const isIn = (text: string) =>
      Buffer.compare(Buffer.from(text), Buffer.from(from)) >= 0 &&
      Buffer.compare(Buffer.from(text), Buffer.from(to)) < 0
    expect({ prefix, found: texts.filter(isIn) }).toEqual({
      prefix,
      found: texts.filter((text) => text.startsWith(prefix))
    })
  }
})

describe("LIST1. a list and a search of one owner's conversations cost what the owner has", () => {
  test("in SQLite: at most three times the processor's time, beside the conversations of ten thousand others", async () => {
    using folder = new Folder()
    const [crowded, alone] = [folder.file(), folder.file()]
    for (const path of [crowded, alone]) {
      const store = sqlite(path, { durability: "process" })
      await fill(store)
      await store.close()
    }
    const connection = new DatabaseSync(crowded)
    for (const statement of sqliteOthers) connection.exec(statement)
    connection.close()
    const [many, few] = [sqlite(crowded), sqlite(alone)]
    await expectOwn(many)
    expect(await dearer(5, asking(many, 20), asking(few, 20))).toBeLessThan(3)
    await many.close()
    await few.close()
  })

  test("in SQLite: LIST2 too: each question finds its rows by an index of what the owner has, or of what runs", async () => {
    using folder = new Folder()
    const path = folder.file()
    const database = openSqlite(path, { durability: "process", busyTimeoutMs: 0, clock: Clock.live })
    const asked = new Set<string>()
    function* noting<A>(questions: Asking<A>): Asking<A> {
      let step = questions.next()
      while (step.done !== true) {
        asked.add(step.value.sql)
        step = questions.next(yield step.value)
      }
      return step.value
    }
    const noted: Database = {
      name: database.name,
      dialect: database.dialect,
      read: (ask) => database.read(() => noting(ask())),
      write: (ask) => database.write(() => noting(ask())),
      close: () => database.close()
    }
    const store = new SqlStore(noted, { clock: Clock.live, ttlMs: undefined })
    await fill(store)
    asked.clear()
    await asking(store, 1).run()
    for (const prefix of ["", "anna/"]) await store.list({ running: true, prefix })
    await store.list({ running: true, bucket: [1, 2, 3] })
    await store.close()
    const connection = new DatabaseSync(path)
    const plans = Array.from(asked, (sql) =>
      connection
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...Array.from(sql.matchAll(/\?/g), () => 1))
        .map(({ detail }) => String(detail))
        .filter((detail) => detail !== "USE TEMP B-TREE FOR ORDER BY")
    )
    connection.close()
    expect(plans).toEqual([
      ["SEARCH chats USING INDEX sqlite_autoindex_chats_1 (id>? AND id<?)"],
      ["SEARCH items USING INDEX sqlite_autoindex_items_1 (chat=? AND list=?)"],
      ["SEARCH chats USING INDEX chats_running (written<?)"],
      ["SEARCH chats USING INDEX chats_running_ids (id>? AND id<?)"],
      ["SCAN chats USING INDEX chats_without_bucket"],
      [
        "SEARCH chats USING INDEX chats_running (written<?)",
        "LIST SUBQUERY 1",
        "SCAN json_each VIRTUAL TABLE INDEX 1:",
        "CREATE BLOOM FILTER"
      ]
    ])
  })

  test("BYID1. in memory: at most three times the processor's time, beside the conversations of ten thousand others", async () => {
    const [many, few] = [Store.memory(), Store.memory()]
    for (let at = 0; at < others; at++) await save(many, recordOf(`other ${at}/chat`, [user("A common word")]))
    for (const store of [many, few]) await fill(store)
    await expectOwn(many)
    expect(await dearer(5, asking(many, 50), asking(few, 50))).toBeLessThan(3)
  })

  describe("in PostgreSQL", () => {
    let server: PostgresAddress
    beforeAll(async () => {
      server = await workerPostgres()
    }, 60_000)

    test("no more rows are read than the owner has", { timeout: 60_000 }, async () => {
      const schema = `listing_${process.pid}`
      const filled = postgres(server.url, { schema })
      await fill(filled)
      await filled.close()
      await queries(server.url, [
        ...rowsOfOthers(`"${schema}".`, `generate_series(1, ${others}) AS n`),
        `ANALYZE "${schema}".chats`,
        `ANALYZE "${schema}".items`
      ])
      const read = async (): Promise<number> => {
        const [row] = await queries(server.url, [
          `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS count
            FROM pg_stat_user_tables WHERE schemaname = '${schema}'`
        ])
        return Number(row?.["count"])
      }
      const store = postgres(server.url, { schema })
      await expectOwn(store)
      await save(store, { ...recordOf("anna/runs", []), running: true })
      await store.close()
      const unlisted = await read()
      const listing = postgres(server.url, { schema })
      const bucket = [Store.bucketOf("anna/runs"), 1, 2, 3]
      for (const options of [{}, { prefix: "anna/" }, { bucket }]) {
        for (let at = 0; at < 10; at++) {
          expect(await idsOf(listing, { running: true, ...options })).toEqual(["anna/runs"])
        }
      }
      await listing.delete("anna/runs")
      await listing.close()
      // LIST2
      expect((await read()) - unlisted).toBeLessThan(200)
      const before = await read()
      const again = postgres(server.url, { schema })
      await asking(again, 10).run()
      await again.close()
      const count = (await read()) - before
      expect(count).toBeGreaterThan(0)
      // Each list reads its conversations, and each search the messages of those.
      expect(count / 10).toBeLessThan(asks.length * own * 4 + 50)
    })
  })
})
