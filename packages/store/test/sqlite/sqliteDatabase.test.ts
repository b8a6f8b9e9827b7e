import { DatabaseSync } from "node:sqlite"
import { user } from "@troupe/chat"
import { SessionError, ValidationError } from "@troupe/chat/errors"
import { describe, expect, test } from "vitest"
import { openSqlite } from "../../src/sqlite/openSqlite.ts"
import { rowsOf } from "../../src/sql/query.ts"
import { SqliteDatabase } from "../../src/sqlite/sqliteDatabase.ts"
import { SqlStore } from "../../src/sql/sqlStore.ts"
import { sqlite } from "../../src/index.ts"
import { Clock } from "@troupe/otp"
import { Folder } from "../double/folder.ts"
import { recordOf, said, save } from "../double/records.ts"

const ids = Array.from({ length: 50 }, (_, index) => `chat ${index}`)

/** What another program sees. */
const countIn = (path: string): number => {
  const other = new DatabaseSync(path, { readOnly: true })
  try {
    return Number(other.prepare("SELECT count(*) AS count FROM chats").get()?.["count"])
  } finally {
    other.close()
  }
}

describe("SQLITE1, SQLITE2", () => {
  test("what is saved in one turn of the event loop is one transaction, and kept when the first is answered", async () => {
    using folder = new Folder()
    const path = folder.file()
    const store = sqlite(path)
    const saving = ids.map(async (id) => save(store, said(id, "Hello")))
    expect(countIn(path)).toBe(0)
    await saving[0]
    expect(countIn(path)).toBe(ids.length)
    await Promise.all(saving)
    await store.close()
  })
})

describe("SQLITE3", () => {
  test("a save that is refused leaves nothing behind, and the others of its transaction are kept", async () => {
    const store = sqlite(":memory:")
    const none = recordOf("none", [{ ...user("x"), metadata: { a: () => {} } }])
    const came = await Promise.allSettled([
      save(store, said("a", "one"), { after: 0 }),
      save(store, said("a", "two"), { after: 0 }),
      save(store, none),
      save(store, said("b", "one"))
    ])
    const reasons = came.map((one) => (one.status === "rejected" ? (one.reason as unknown) : one.value))
    expect(reasons).toEqual([{ seq: 1 }, expect.any(SessionError), expect.any(ValidationError), { seq: 1 }])
    expect((await store.list()).chats.map(({ id }) => id)).toEqual(["b", "a"])
    await store.close()
  })

  test("a full disk fails the whole transaction, and what was kept before stays; with room again, saves are kept", async () => {
    using folder = new Folder()
    const path = folder.file()
    await sqlite(path).close()
    const connection = new DatabaseSync(path)
    const store = new SqlStore(new SqliteDatabase(path, connection), { clock: Clock.live, ttlMs: undefined })
    await save(store, said("kept", "Hello"))
    const pages = Number(connection.prepare("PRAGMA page_count").get()?.["page_count"])
    connection.exec(`PRAGMA max_page_count = ${pages + 1}`)
    const came = await Promise.allSettled([
      save(store, said("a", "Hello")),
      save(store, said("b", "x".repeat(100_000)))
    ])
    for (const one of came)
      expect(one).toMatchObject({ status: "rejected", reason: { reason: "full", database: path } })
    expect((await store.list()).chats.map(({ id }) => id)).toEqual(["kept"])
    connection.exec("PRAGMA max_page_count = 100000")
    expect(await save(store, said("b", "x".repeat(100_000)))).toEqual({ seq: 1 })
    await store.close()
  })
})

describe("a damaged file", () => {
  /** A store of which the end of a write fails, as that of one which comes upon a damaged index does. */
  const damaged = (path: string) => {
    const state = { isDamaged: false }
    openSqlite(path, { durability: "process", busyTimeoutMs: 0, clock: Clock.live }).close()
    const connection = new DatabaseSync(path)
    const prepare = connection.prepare.bind(connection)
    connection.prepare = (sql) => {
      const statement = prepare(sql)
      if (sql !== "RELEASE one") return statement
      const run = statement.run.bind(statement)
      statement.run = () => {
        const done = run()
        if (state.isDamaged) throw Object.assign(new Error("database disk image is malformed"), { errcode: 11 })
        return done
      }
      return statement
    }
    const store = new SqlStore(new SqliteDatabase(path, connection), { clock: Clock.live, ttlMs: undefined })
    return { state, store, connection }
  }

  test("that fails the end of a write says so to all of its transaction, and nothing of it is kept", async () => {
    using folder = new Folder()
    const { state, store } = damaged(folder.file())
    await save(store, said("kept", "Hello"))
    state.isDamaged = true
    const came = await Promise.allSettled([save(store, said("a", "Hello")), save(store, said("b", "Hello"))])
    for (const one of came) expect(one).toMatchObject({ status: "rejected", reason: { reason: "corrupt" } })
    state.isDamaged = false
    expect((await store.list()).chats.map(({ id }) => id)).toEqual(["kept"])
    expect(await save(store, said("a", "Hello"))).toEqual({ seq: 1 })
    await store.close()
  })

  test("whose tables break their own rules is damaged", async () => {
    using folder = new Folder()
    const { store, connection } = damaged(folder.file())
    await save(store, said("a", "Hello"))
    connection.exec("INSERT INTO commits (chat, seq, is_step, body) VALUES (1, 2, 1, '{}')")
    await expect(save(store, said("a", "again"))).rejects.toMatchObject({ reason: "corrupt" })
    await store.close()
  })
})

describe("SQLITE4", () => {
  test("a read sees every save that was asked for before it", async () => {
    const store = sqlite(":memory:")
    const saving = save(store, said("a", "one"))
    expect((await store.load("a"))?.version).toBe(1)
    await saving
    await store.close()
  })

  test("what was saved before the store was closed is kept and answered", async () => {
    using folder = new Folder()
    const path = folder.file()
    const store = sqlite(path)
    const saving = save(store, said("a", "one"))
    await store.close()
    expect(await saving).toEqual({ seq: 1 })
    expect(countIn(path)).toBe(1)
  })
})

describe("durability", () => {
  test.each([
    ["power", 2],
    ["process", 1]
  ] as const)("of %s waits for the disk as it says", (durability, synchronous) => {
    using folder = new Folder()
    const database = openSqlite(folder.file(), { durability, busyTimeoutMs: 0, clock: Clock.live })
    expect(database.read(() => rowsOf("PRAGMA synchronous"))).toEqual([{ synchronous }])
    expect(database.read(() => rowsOf("PRAGMA journal_mode"))).toEqual([{ journal_mode: "wal" }])
    database.close()
  })
})
