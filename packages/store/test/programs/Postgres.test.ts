import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { Fake, Troupe, user } from "@troupe/chat"
import { Testing } from "@troupe/testing"
import { Clock } from "@troupe/otp"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { postgres, type PostgresOptions, StoreError } from "../../src/index.ts"
import { searchQuery } from "../../src/postgres/postgresSearch.ts"
import type { Asking } from "../../src/sql/query.ts"
import { type Database, SqlStore } from "../../src/sql/sqlStore.ts"
import { expectMigrated } from "../double/migrated.ts"
import { type PostgresAddress, workerPostgres } from "../double/postgresServer.ts"
import { queries } from "../double/queries.ts"
import { idOf, said, withError, save } from "../double/records.ts"
import { TcpProxy } from "../double/TcpProxy.ts"
import { postgresVersion1 } from "../double/version1.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)
afterAll(async () => {
  if (schemas.length > 0)
    await queries(
      server.url,
      schemas.map((name) => `DROP SCHEMA IF EXISTS ${name} CASCADE`)
    )
}, 60_000)

const schemas: Array<string> = []

/** A schema of its own. */
const fresh = (): string => {
  const name = `troupe_${process.pid}_${schemas.length}`
  schemas.push(name)
  return name
}

const open = (schema: string, options: PostgresOptions = {}) => postgres(server.url, { schema, ...options })

/** The plan of a statement for parameters that are not known. */
const planOf = async (sql: string): Promise<ReadonlyArray<string>> => {
  let count = 0
  const numbered = sql.replaceAll("?", () => `$${(count += 1)}`)
  const rows = await queries(server.url, [
    "SET plan_cache_mode = force_generic_plan",
    `PREPARE one AS ${numbered}`,
    `EXPLAIN (COSTS OFF) EXECUTE one(${Array.from({ length: count }, () => "NULL").join(", ")})`
  ])
  return rows.map((row) => String(row["QUERY PLAN"]))
}

const failureOf = async (asked: unknown): Promise<StoreError> => {
  try {
    await asked
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }
  throw new Error("it did not fail")
}

test("SOUGHT1, SOUGHT2: a search indexes what is new in portions, by the index, and a deletion deletes it", async () => {
  const name = fresh()
  const store = open(name)
  const rows = async (sql: string) => Number((await queries(server.url, [sql]))[0]?.["count"])
  const counted = () => rows(`SELECT count(*) FROM ${name}.sought`)
  for (let chat = 0; chat < 60; chat++) {
    const messages = Array.from({ length: 12 }, (_, at) =>
      user(`${chat === 7 && at === 3 ? "umbrella" : "words"} ${at}`)
    )
    await store.append(`a/${chat}`, [{ type: "InputTaken", messages, inputs: [] }], { after: 0 })
  }
  const huge = user("word ".repeat(300_000))
  await store.append("b/1", [{ type: "InputTaken", messages: [huge, user("a second umbrella")], inputs: [] }], {
    after: 0
  })
  expect(await counted()).toBe(0)
  const found = async (query: string, prefix = "") =>
    ((await store.search?.({ query, prefix })) ?? []).map(({ chat, place }) => `${chat} ${place}`)
  expect(await found("an umbrella", "a/")).toEqual(["a/7 3"])
  expect(await counted()).toBe(722)
  await store.append("a/7", [{ type: "MessagesAdded", messages: [user("another umbrella")] }], { after: 1 })
  expect((await found("umbrellas")).toSorted()).toEqual(["a/7 12", "a/7 3", "b/1 1"])
  expect(await counted()).toBe(723)
  await store.rewind("a/7", 1)
  expect(await found("another")).toEqual([])
  await store.delete("a/7")
  expect(await found("umbrella", "a/")).toEqual([])
  expect(await counted()).toBe(710)
  const { sql } = searchQuery(`${name}.`, { stems: ["umbrella"], where: { sql: "true", params: [] }, limit: 5 })
  const text = ["'umbrella:*'", "5"].reduce((left, value) => left.replace("?", value), sql)
  const plan = await queries(server.url, [
    "SET enable_seqscan = off",
    "SET enable_indexscan = off",
    `EXPLAIN (COSTS OFF) ${text}`
  ])
  expect(plan.map((row) => String(row["QUERY PLAN"])).join(" ")).toContain("sought_vector")
  await store.close()
})

test("SOUGHT1: a message whose words take the most bytes of a vector stops no search", async () => {
  const store = open(fresh())
  const pair = (at: number) => String.fromCodePoint(0x20000 + (at % 40_000), 0x20000 + ((at * 13) % 39_989))
  const words = Array.from({ length: 34_000 }, (_, at) => `${pair(2 * at)}-${pair(2 * at + 1)}`)
  await store.append("a/1", [{ type: "MessagesAdded", messages: [user(words.join(" "))] }], { after: 0 })
  await store.append("b/1", [{ type: "MessagesAdded", messages: [user("an umbrella")] }], { after: 0 })
  expect(await store.search?.({ query: "umbrella" })).toMatchObject([{ chat: "b/1" }])
  await store.close()
})

describe("the store in PostgreSQL", () => {
  test.each(Testing.sessionStoreLaws((options) => postgres(server.url, { ...options, schema: fresh() })))(
    "$title",
    async ({ check }) => {
      await expect(check()).resolves.toBeUndefined()
    }
  )
})

describe("ONESAVE1, ONESAVE3", () => {
  test("each save of a chat's turn is one statement outside of a transaction, which reads no earlier message", async () => {
    const { PostgresDatabase } = await import("../../src/postgres/postgresDatabase.ts")
    const limits = { connectTimeoutMs: 5_000, statementTimeoutMs: 0, idleTransactionTimeoutMs: 0, keepAliveMs: 1_000 }
    const reaching = { url: server.url, schema: fresh(), maxConnections: 2, ...limits, now: () => 0 }
    const database = new PostgresDatabase(reaching)
    const counts = { statements: 0, transactions: 0 }
    const asked = new Set<string>()
    function* counted<A>(asking: Asking<A>): Asking<A> {
      let step = asking.next()
      while (step.done !== true) {
        counts.statements += 1
        asked.add(step.value.sql)
        step = asking.next(yield step.value)
      }
      return step.value
    }
    const counting: Database = {
      name: database.name,
      dialect: database.dialect,
      read: (ask) => database.read(ask),
      write: (ask) => database.write(ask),
      atOnce: (ask, otherwise) => {
        const inTransaction = () => {
          counts.transactions += 1
          return otherwise()
        }
        return database.atOnce(() => counted(ask()), inTransaction)
      },
      close: () => database.close()
    }
    const store = new SqlStore(counting, { clock: Clock.live, ttlMs: undefined })
    const adapter = Fake.make({ respond: () => [{ text: "Yes." }, { finish: "stop" }] })
    const troupe = await Troupe.start({ adapter, store })
    const chat = await troupe.chat("a")
    for (const text of ["one", "two", "three"]) await chat.send(text).result()
    await troupe.stop()
    const again = await Troupe.start({ adapter, store })
    await (await again.chat("a")).send("four").result()
    await again.stop()
    const entries = (await store.history("a")).length
    expect(entries).toBeGreaterThanOrEqual(8)
    expect(counts).toEqual({ statements: entries, transactions: 0 })
    const [statement = "", ...others] = asked
    expect(others).toEqual([])
    expect(
      (await planOf(statement)).filter((line) => /Index Cond: .*list = \d.*"position" >=/.test(line))
    ).toHaveLength(2)
    await store.close()
  })

  test("a save under a claimed fence that takes an input is done; an unclaimed key is no obstacle", async () => {
    const store = open(fresh())
    await store.claim("k", 1)
    for (const key of ["k", "new"]) {
      await store.accept(key, { id: "i1", whenBusy: "queue", message: user("1") })
      const fence = { key, epoch: 1 }
      expect(await save(store, said(key, "1"), { after: 0, takes: ["i1"], fence })).toEqual({
        seq: 1
      })
      expect(await store.load(key)).toEqual({ ...said(key, "1"), version: 1 })
    }
    await store.close()
  })
})

describe("the limits of a connection", () => {
  test("a statement that runs too long is ended by the server, and the store goes on", async () => {
    const schema = fresh()
    const store = open(schema, { statementTimeoutMs: 300, maxConnections: 1 })
    await save(store, said("a", "one"))
    const locked = queries(server.url, [
      "BEGIN",
      `SELECT key FROM "${schema}".chats FOR UPDATE`,
      "SELECT pg_sleep(2)",
      "COMMIT"
    ])
    const { promise, resolve } = Promise.withResolvers<void>()
    const watch = async (): Promise<void> => {
      const held = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(2)%'"
      const [row] = await queries(server.url, [held])
      return row?.["count"] === 0 ? watch() : resolve()
    }
    void watch()
    await promise
    expect((await failureOf(save(store, said("a", "two")))).reason).toBe("busy")
    await locked
    expect(await save(store, said("a", "two"))).toEqual({ seq: 2 })
    await store.close()
  })

  test("are left to the server when they are 0, and checked", async () => {
    const store = open(fresh(), { statementTimeoutMs: 0, idleTransactionTimeoutMs: 0, keepAliveMs: 1_000 })
    expect(await store.list()).toEqual({ chats: [] })
    await store.close()
    expect(() => open(fresh(), { keepAliveMs: 1 })).toThrow(expect.objectContaining({ reason: "invalid_options" }))
  })
})

describe("PG1", () => {
  test("a server that gives no answer is asked again by the next", async () => {
    const unreachable = postgres("postgres://troupe:secret@127.0.0.1:1/postgres")
    const { reason, message } = await failureOf(unreachable.load("a"))
    expect([reason, message]).toEqual([
      "unreachable",
      "The database 127.0.0.1:1/postgres gives no answer; see that it runs and can be reached from here"
    ])
    expect((await failureOf(unreachable.load("a"))).reason).toBe("unreachable")
    await unreachable.close()
  })

  test.each(["57P01", "57P02", "57P03"])(
    "a server that starts or stops (%s) is asked again by the next",
    async (code) => {
      const fields = ["SFATAL", "VFATAL", `C${code}`, "Mthe database system is not ready", ""]
      const body = Buffer.from(`${fields.join("\0")}\0`)
      const head = Buffer.alloc(5, "E")
      head.writeUInt32BE(body.length + 4, 1)
      const starting = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", () => socket.end(Buffer.concat([head, body])))
      })
      await once(starting.listen(0, "127.0.0.1"), "listening")
      const { port } = starting.address() as AddressInfo
      const store = postgres(`postgres://troupe:secret@127.0.0.1:${port}/postgres`)
      const { reason, message } = await failureOf(store.load("a"))
      expect([reason, message]).toEqual([
        "unreachable",
        `The database 127.0.0.1:${port}/postgres starts or stops; try again soon`
      ])
      await store.close()
      starting.close()
    }
  )

  test("a store outlives its connections", async () => {
    const store = open(fresh())
    await save(store, said("a", "one"))
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'troupe'"
    expect((await queries(server.url, [end])).length).toBeGreaterThan(0)
    const again = () => save(store, said("a", "one", "two"))
    expect(await Promise.resolve(again()).catch(again)).toEqual({ seq: 2 })
    await store.close()
  })

  test("stores that make the same schema at once wait for one another", async () => {
    const schema = fresh()
    const stores = Array.from({ length: 4 }, () => open(schema))
    const saving = stores.map(async (store, index) => save(store, said(`chat ${index}`, "one")))
    expect(await Promise.all(saving)).toEqual(stores.map(() => ({ seq: 1 })))
    expect((await stores[0]?.list())?.chats.length).toBe(4)
    await Promise.all(stores.map(async (store) => store.close()))
  })
})

describe("SQLLOG4", () => {
  test("stores that write one conversation at once leave its log without gaps, and each entry once", async () => {
    const schema = fresh()
    const stores = Array.from({ length: 4 }, () => open(schema))
    const saving = stores.flatMap((store, writer) =>
      Array.from({ length: 10 }, async (_, index) => save(store, said("a", `${writer} ${index}`)))
    )
    const seqs = (await Promise.all(saving)).map(({ seq }) => seq)
    const all = Array.from({ length: 40 }, (_, index) => index + 1)
    expect(seqs.toSorted((one = 0, other = 0) => one - other)).toEqual(all)
    const [store] = stores
    const history = await store?.history("a", { limit: 100 })
    expect(history?.map(({ seq }) => seq)).toEqual(all)
    for (const seq of all) expect((await store?.at("a", seq))?.thread.messages.length).toBe(1)
    await Promise.all(stores.map(async (one) => one.close()))
  })
})

describe("PG3", () => {
  test("close waits for what is under way, and leaves no connection", async () => {
    const schema = fresh()
    const store = open(schema)
    const saving = Promise.all(
      Array.from({ length: 20 }, async (_, index) => save(store, said(`chat ${index}`, "one")))
    )
    await store.close()
    expect((await saving).length).toBe(20)
    const count = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'troupe'"
    await expect.poll(() => queries(server.url, [count])).toEqual([{ count: 0 }])
  })
})

describe("PG4", () => {
  test("an operation on a lost connection fails in time, and the next one uses another connection", async () => {
    const schema = fresh()
    const { host } = new URL(server.url)
    const proxy = await TcpProxy.listen(host)
    const store = postgres(server.url.replace(host, proxy.address), {
      schema,
      maxConnections: 1,
      statementTimeoutMs: 200,
      connectTimeoutMs: 2_000
    })
    await save(store, said("a", "Hello"))
    proxy.set(() => "silent")
    proxy.lose(() => true)
    const failure = failureOf(store.load("a"))
    proxy.set(() => "pass")
    expect((await failure).reason).toBe("unreachable")
    expect((await store.load("a"))?.thread.messages.length).toBe(1)
    await store.close()
    proxy.cut()
    proxy.close()
  }, 30_000)
})

describe("a PostgreSQL database", () => {
  test("of version 1 is brought up to date, and keeps everything it had", async () => {
    const schema = fresh()
    await queries(server.url, [`CREATE SCHEMA ${schema}`, `SET search_path TO ${schema}`, ...postgresVersion1])
    await open(schema).close()
    const store = open(schema)
    await expectMigrated(store)
    await store.close()
    const noted = await queries(server.url, [`SELECT version FROM ${schema}.migrations ORDER BY version`])
    expect(noted).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }])
  })

  test("TERR1 of version 2 loses the texts of errors from its search, and no other", async () => {
    const schema = fresh()
    const before = open(schema)
    await save(before, withError)
    await before.close()
    await queries(server.url, [
      `UPDATE ${schema}.items SET words = 'password hunter2' WHERE body LIKE '%hunter2%'`,
      `DELETE FROM ${schema}.migrations WHERE version = 3`
    ])
    const store = open(schema)
    expect(await store.list({ search: "hunter2" })).toEqual({ chats: [] })
    expect((await store.list({ search: "how are" })).chats).toHaveLength(1)
    await store.close()
    const left = `SELECT count(*)::int AS count FROM ${schema}.items WHERE words LIKE '%hunter2%'`
    expect(await queries(server.url, [left])).toEqual([{ count: 0 }])
  })

  test("of a newer schema is refused, and not touched", async () => {
    const schema = fresh()
    const store = open(schema)
    await save(store, said("a", "one"))
    await store.close()
    await queries(server.url, [`INSERT INTO ${schema}.migrations VALUES (99, 'the future', 0)`])
    const newer = open(schema)
    const { reason, message } = await failureOf(newer.load("a"))
    expect([reason, message]).toEqual([
      "newer_schema",
      `The schema ${schema} has the version 99, and this version of @troupe/store supports those up to 3; install a newer one`
    ])
    await newer.close()
  })

  test("that is not there, or does not let the user in, says so without the password", async () => {
    const missing = new URL(server.url)
    missing.pathname = "/nowhere"
    const stranger = new URL(server.url)
    stranger.password = "guessed"
    for (const [url, reason] of [
      [missing, "cannot_open"],
      [stranger, "refused"]
    ] as const) {
      const store = postgres(url.href)
      const failure = await failureOf(store.load("a"))
      expect(failure.reason).toBe(reason)
      expect(failure.message).not.toContain(url.password)
      await store.close()
    }
  })

  test("with a record that is damaged refuses that conversation, and keeps the others", async () => {
    const schema = fresh()
    const store = open(schema)
    await save(store, said("a", "one"))
    await save(store, said("b", "one"))
    await queries(server.url, [`UPDATE ${schema}.commits SET body = '{}' WHERE chat = 1`])
    expect((await failureOf(store.load("a"))).reason).toBe("corrupt")
    expect((await store.load("b"))?.version).toBe(1)
    await store.close()
  })

  test("takes the longest id there is, and refuses a longer one as that", async () => {
    const store = open(fresh())
    const id = idOf(2_048)
    expect(await save(store, said(id, "one"))).toEqual({ seq: 1 })
    expect((await store.load(id))?.id).toBe(id)
    await expect(save(store, said(idOf(2_049), "one"))).rejects.toThrow("id: must_be_at_most 2048 bytes")
    await store.close()
  })

  test("that lost an entry or a message refuses that conversation", async () => {
    const schema = fresh()
    const store = open(schema)
    for (const id of ["a", "b", "c"]) await save(store, said(id, "one", "two"))
    await queries(server.url, [
      `DELETE FROM ${schema}.commits WHERE chat = 1`,
      `DELETE FROM ${schema}.items WHERE chat = 2 AND position = 0`
    ])
    for (const id of ["a", "b"]) {
      for (const ask of [
        () => store.load(id),
        () => store.history(id),
        () => store.at(id, 1),
        () => store.fork(id, "d", 1)
      ]) {
        expect((await failureOf(ask())).reason).toBe("corrupt")
      }
    }
    expect((await store.load("c"))?.thread.messages.length).toBe(2)
    await store.close()
  })

  test("keeps text that its columns cannot hold", async () => {
    const store = open(fresh())
    const record = said("a", "a\0b \ud800 c")
    await save(store, record)
    await store.keepDraft("a", "cut in half \ud83d", 1)
    expect(await store.load("a")).toEqual({ ...record, version: 1, draft: "cut in half \ud83d" })
    expect((await store.list({ search: "AB" })).chats.map(({ title }) => title)).toEqual(["ab \ufffd c"])
    await store.close()
  })
})
