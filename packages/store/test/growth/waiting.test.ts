import { DatabaseSync } from "node:sqlite"
import { Fake, Troupe, user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { postgres, sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { type PostgresAddress, workerPostgres } from "../double/postgresServer.ts"
import { queries } from "../double/queries.ts"
import { recordOf, save } from "../double/records.ts"

const chats = 100_000
/** Every hundredth of the others waits, and every thousandth has expired. */
const waiting = 40_000

let server: PostgresAddress
const folder = new Folder()
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)
afterAll(() => folder[Symbol.dispose]())

/** What others have: rows as the store writes them, in one statement for each table. */
const rowsOfOthers = (prefix: string, series: (count: number) => string): ReadonlyArray<string> => [
  `INSERT INTO ${prefix}chats (id, bucket, seq, noted, moved, waits, written, title, messages, running, created_at, updated_at)
    SELECT 'other ' || (n % 50) || '/' || n, n % 4096, 1, 1, 1, CASE WHEN n <= ${waiting} THEN 1 ELSE 0 END, 1000 + n, 'Hello', 1, 0, 0, 0
    FROM ${series(chats)}`,
  `INSERT INTO ${prefix}commits (chat, seq, is_step, body) SELECT key, 1, 1, '{}' FROM ${prefix}chats WHERE id LIKE 'other %'`,
  `INSERT INTO ${prefix}waiting (chat, call, id, part, kind, agent, asked_at, expires_at, body)
    SELECT key, 'c1', id, substr(id, 1, instr_of_slash), CASE WHEN key % 7 = 0 THEN 'question' ELSE 'approval' END, 'support', 1000 + key,
      CASE WHEN key % 100 = 0 THEN 1 END, '{"toolCallId":"c1","tool":"pay","text":"{}"}'
    FROM (SELECT key, id, ${prefix === "" ? "instr(id, '/')" : "strpos(id, '/')"} AS instr_of_slash, waits FROM ${prefix}chats) AS others
    WHERE waits = 1`
]

const asking = (id: string) =>
  recordOf(id, [user("Pay"), Message.assistant("", [{ id: "c1", name: "pay", arguments: {} }])], {
    pendingQuestion: { toolCallId: "c1", question: "Which account?", options: {} }
  })

const filled: Readonly<Record<string, () => Promise<Store.SessionStore>>> = {
  SQLite: async () => {
    const path = folder.file()
    await sqlite(path).close()
    const connection = new DatabaseSync(path)
    const series = (count: number) =>
      `(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count}) SELECT n FROM counted)`
    for (const statement of rowsOfOthers("", series)) connection.exec(statement)
    connection.close()
    return sqlite(path, { durability: "process" })
  },
  PostgreSQL: async () => {
    const options = { schema: `waiting_${process.pid}`, maxConnections: 2 }
    const store = postgres(server.url, options)
    await store.list()
    await queries(
      server.url,
      rowsOfOthers(`"${options.schema}".`, (count) => `generate_series(1, ${count}) AS n`)
    )
    return store
  }
}

/** The options of a first page, and how many waits it has. */
const asks: ReadonlyArray<readonly [Store.Lists.WaitOptions, number]> = [
  [{}, 50],
  [{ owner: "other 7/" }, 50],
  [{ owner: "anna/" }, 2],
  [{ kind: "question" }, 50],
  [{ agent: "support" }, 50],
  [{ owner: "other 7/", kind: "question", agent: "support" }, 50],
  [{ kind: "tool_result" }, 0]
]

describe.each(Object.keys(filled))("WAITROW3. what waits among 100,000 conversations in %s", (name) => {
  test("the first page takes less than 50 ms, and starts no process", { timeout: 240_000 }, async () => {
    const store = await filled[name]?.()
    if (store === undefined) throw new Error(`There is no ${name}`)
    const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }), store })
    for (const id of ["anna/1", "anna/2"]) await save(store, asking(id))
    for (const [options, count] of asks) {
      let least = Infinity
      for (let times = 0; times < 5; times++) {
        const began = performance.now()
        const { waits } = await troupe.waiting(options)
        least = Math.min(least, performance.now() - began)
        expect({ options, count: waits.length }).toEqual({ options, count })
      }
      expect({ options, isFast: least < 50, least }).toEqual({ options, isFast: true, least })
    }
    const { waits, next } = await troupe.waiting({ limit: 1_000 })
    expect(waits).toHaveLength(1_000)
    expect((await troupe.waiting({ after: next, limit: 1 })).waits[0]?.askedAt).toBeGreaterThan(
      waits.at(-1)?.askedAt ?? 0
    )
    expect(["anna/1", waits[0]?.chat ?? ""].map((id) => troupe.isAlive(id))).toEqual([false, false])
    await troupe.stop()
    await store.close()
  })
})
