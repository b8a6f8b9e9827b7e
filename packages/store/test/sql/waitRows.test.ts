import { Fake, tool, Troupe, user } from "@troupe/chat"
import { Clock } from "@troupe/otp"
import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { SqlStore } from "../../src/sql/sqlStore.ts"
import { openSqlite } from "../../src/sqlite/openSqlite.ts"
import type { Asking } from "../../src/sql/query.ts"
import type { Database } from "../../src/sql/sqlStore.ts"
import { Folder } from "../double/folder.ts"
import { recordOf, said, save } from "../double/records.ts"

/** A store in SQLite that notes its statements. */
const noting = (path: string) => {
  const database = openSqlite(path, { durability: "process", busyTimeoutMs: 0, clock: Clock.live })
  const asked: Array<string> = []
  function* noted<A>(asking: Asking<A>): Asking<A> {
    let step = asking.next()
    while (step.done !== true) {
      asked.push(step.value.sql)
      step = asking.next(yield step.value)
    }
    return step.value
  }
  const wrapped: Database = {
    name: database.name,
    dialect: database.dialect,
    read: (ask) => database.read(() => noted(ask())),
    write: (ask) => database.write(() => noted(ask())),
    close: () => database.close()
  }
  return { store: new SqlStore(wrapped, { clock: Clock.live, ttlMs: undefined }), asked }
}

test("WAITROW1. a chat that waits for nothing has no statement for waits, and one that waits has two for each change", async () => {
  using folder = new Folder()
  const { store, asked } = noting(folder.file())
  const ask = tool({ name: "book", execute: () => ({ askUser: "For how many?" }) })
  const adapter = Fake.make({ respond: () => [{ text: "Yes." }, { finish: "stop" }] })
  const troupe = await Troupe.start({ adapter, tools: [ask], store })
  const chat = await troupe.chat("a")
  for (const text of ["one", "two"]) await chat.send(text).result()
  await troupe.stop()
  const ofWaits = () => asked.filter((sql) => /\bwaiting (SET|WHERE|\()/.test(sql)).length
  expect(ofWaits()).toBe(0)
  const asking = recordOf("b", [user("Pay")], {
    pendingQuestion: { toolCallId: "c1", question: "Which?", options: {} }
  })
  await save(store, asking)
  expect(ofWaits()).toBe(1)
  await save(store, said("b", "Pay", "This one"))
  expect(ofWaits()).toBe(3)
  await save(store, said("b", "Pay", "This one", "Thanks"))
  expect(ofWaits()).toBe(3)
  await store.close()
})

test("WAITROW3. each list of waits finds its rows by an index, in their order", async () => {
  using folder = new Folder()
  const path = folder.file()
  const { store, asked } = noting(path)
  await store.waiting()
  const after = "7.3"
  for (const options of [{}, { owner: "a/" }, { kind: "question" }, { agent: "b" }, { owner: "a/", after }] as const) {
    await store.waiting(options)
  }
  await store.escalate(7, 10)
  await store.close()
  const connection = new DatabaseSync(path)
  const plans = new Set(
    asked.flatMap((sql) =>
      connection
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...Array.from(sql.matchAll(/\?/g), () => 1))
        .map(({ detail }) => String(detail))
    )
  )
  connection.close()
  expect([...plans].filter((plan) => /SCAN|TEMP/.test(plan))).toEqual([
    "SCAN chats USING INDEX chats_unnoted",
    "SCAN waiting USING INDEX waiting_all"
  ])
})
