import { user } from "@troupe/chat"
import type { SessionError } from "@troupe/chat/errors"
import { Message } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"
import { openSqlite } from "../../src/sqlite/openSqlite.ts"
import type { Asking, Query, Row } from "../../src/sql/query.ts"
import { type Database, SqlStore } from "../../src/sql/sqlStore.ts"
import type { SqliteDatabase } from "../../src/sqlite/sqliteDatabase.ts"
import { recordOf, save } from "../double/records.ts"

const clock = Clock.live

/** A store that counts what it asks its database, and the characters that go there and come back. */
class Counted {
  questions = 0
  sent = 0
  read = 0
  readonly store: SqlStore

  constructor() {
    const database = openSqlite(":memory:", { durability: "process", busyTimeoutMs: 0, clock })
    const counted: Database = {
      name: database.name,
      dialect: database.dialect,
      read: (ask) => database.read(() => this.#counting(ask())),
      write: (ask) => database.write(() => this.#counting(ask())),
      close: () => database.close()
    }
    this.store = new SqlStore(counted, { clock, ttlMs: undefined })
  }

  *#counting<A>(asking: Asking<A>): Asking<A> {
    let step = asking.next()
    while (step.done !== true) {
      const query: Query = step.value
      this.questions += 1
      this.sent += JSON.stringify(query.params).length
      const rows = yield query
      this.read += JSON.stringify(rows).length
      step = asking.next(rows)
    }
    return step.value
  }

  /** What some work costs. */
  async cost(work: () => Promise<unknown>): Promise<readonly [questions: number, sent: number, read: number]> {
    const before = [this.questions, this.sent, this.read] as const
    await work()
    return [this.questions - before[0], this.sent - before[1], this.read - before[2]]
  }
}

const line = (index: number): Message.Message =>
  index % 2 === 0
    ? user(`Question ${String(index).padStart(5, "0")}`)
    : Message.assistant(`Answer ${String(index).padStart(7, "0")}`)

/** A conversation that a living chat goes on with. */
const grown = async ({ store }: Counted, from: Conversation | undefined, to: number): Promise<Conversation> => {
  let record = from
  for (let index = record?.thread.messages.length ?? 0; index < to; index++) {
    const known = [`input ${String(index).padStart(5, "0")}`]
    const entry = { type: "InputTaken", messages: [line(index)], inputs: known, known } as const
    record = await store.append("a", [entry], { after: index, record })
  }
  return record ?? recordOf("a", [])
}

const within = (seen: ReadonlyArray<number>, of: ReadonlyArray<number>, slack: number): boolean =>
  seen.every((count, index) => Math.abs(count - (of[index] ?? 0)) <= slack)

describe("SQLLOG1", () => {
  test("a save of a long conversation costs what that of a short one does", async () => {
    const counted = new Counted()
    const short = await grown(counted, undefined, 10)
    const early = await counted.cost(() => grown(counted, short, 11))
    const long = await grown(counted, await counted.store.load("a"), 1_000)
    const late = await counted.cost(() => grown(counted, long, 1_001))
    expect(within(late, early, 20), `${late} after ${early}`).toBe(true)
    expect(early[0]).toBeLessThanOrEqual(6)
    await counted.store.close()
  })

  test("so does the first save after the conversation was loaded", async () => {
    const counted = new Counted()
    await grown(counted, undefined, 500)
    const loaded = await counted.store.load("a")
    if (loaded === undefined) throw new Error("nothing was loaded")
    const [questions, sent, read] = await counted.cost(() => grown(counted, loaded, 501))
    expect(questions).toBeLessThanOrEqual(6)
    expect(sent + read).toBeLessThan(1_000)
    await counted.store.close()
  })

  test("a write that names no record follows the stored one", async () => {
    const counted = new Counted()
    await grown(counted, undefined, 3)
    const record = await counted.store.append("a", [{ type: "MessagesAdded", at: 2, messages: [line(7)] }])
    expect(record.thread.messages).toEqual([line(0), line(1), line(7)])
    expect((await counted.store.history("a")).at(-1)).toMatchObject({ kept: 2, known: { kept: 3, added: [] } })
    expect(await counted.store.load("a")).toEqual(record)
    await counted.store.close()
  })
})

describe("SQLLOG2", () => {
  test("to load a conversation of many entries costs what its messages do", async () => {
    const counted = new Counted()
    await grown(counted, undefined, 200)
    const few = await counted.cost(async () => counted.store.load("a"))
    for (let count = 0; count < 300; count++) await counted.store.append("a", [{ type: "TurnContinued" }])
    const many = await counted.cost(async () => counted.store.load("a"))
    expect(within(many, few, 200), `${many} after ${few}`).toBe(true)
    expect(many[0]).toBe(5)
    await counted.store.close()
  })
})

describe("the time to live", () => {
  test("deletes however many are over it, but for those that are kept", async () => {
    const still = Clock.test()
    const store = sqlite(":memory:", { clock: still, ttlMs: 10 })
    const ids = Array.from({ length: 105 }, (_, index) => `chat ${index}`)
    await Promise.all(ids.map(async (id) => save(store, recordOf(id, [line(0)]))))
    await still.advance(11)
    expect(await store.expire((id) => id.endsWith("7"))).toBe(95)
    expect((await store.list({ limit: 100, search: "question" })).chats.length).toBe(10)
    expect(await store.expire()).toBe(10)
    expect(await store.list({ search: "question" })).toEqual({ chats: [] })
    await store.close()
  })
})

describe("SQLLOG5", () => {
  /** Asks question by question, each by itself; another program acts before one of them. */
  const interrupted = (
    database: SqliteDatabase,
    act: () => Promise<unknown>
  ): { readonly store: SqlStore; actBefore: number } => {
    const apart = async <A>(ask: () => Asking<A>): Promise<A> => {
      const asking = ask()
      let step = asking.next()
      for (let asked = 0; step.done !== true; asked++) {
        if (asked === state.actBefore) await act()
        const question = step.value
        const rows = await database.write(function* (): Asking<ReadonlyArray<Row>> {
          return yield question
        })
        step = asking.next(rows)
      }
      return step.value
    }
    const { name, dialect } = database
    const asked: Database = { name, dialect, read: apart, write: apart, close: () => {} }
    const state = { store: new SqlStore(asked, { clock, ttlMs: undefined }), actBefore: 0 }
    return state
  }

  const first = recordOf("a", [line(0), line(1)])
  const second = recordOf("a", [line(0), line(7), line(8)])

  const reads: ReadonlyArray<readonly [what: string, read: (store: SqlStore) => Promise<unknown>]> = [
    ["a load", (store) => store.load("a")],
    ["a look at an entry", (store) => store.at("a", 1)],
    ["a look at an entry that is not there yet", (store) => store.at("a", 2)],
    ["a history", (store) => store.history("a")],
    ["a fork", (store) => store.fork("a", "b").catch(() => "refused")]
  ]

  test.each(
    reads.flatMap(([what, read]) =>
      (["delete", "save"] as const).flatMap((verb) => [0, 1, 2, 3].map((before) => [what, verb, before, read] as const))
    )
  )(
    "%s has an entry as a whole or not, though another program's %s comes before its question %i",
    async (_, verb, before, read) => {
      const database = openSqlite(":memory:", { durability: "process", busyTimeoutMs: 0, clock: Clock.test() })
      const other = new SqlStore(database, { clock: Clock.test(), ttlMs: undefined })
      await save(other, first)
      const whole = [await read(interrupted(database, async () => {}).store)]
      await other.delete("b")
      const cut = interrupted(database, () => (verb === "delete" ? other.delete("a") : save(other, second)))
      cut.actBefore = before
      const found = await read(cut.store)
      await other.delete("b")
      whole.push(await read(other))
      expect(whole).toContainEqual(found)
      await other.close()
    }
  )

  test.each(
    [undefined, 1].flatMap((at) =>
      ([false, true] as const).flatMap((anew) => [0, 1, 2, 3].map((before) => [at, anew, before] as const))
    )
  )(
    "a fork at %s of a conversation that is deleted meanwhile, and begun anew: %s, is refused for that, before its question %i",
    async (at, anew, before) => {
      const database = openSqlite(":memory:", { durability: "process", busyTimeoutMs: 0, clock: Clock.test() })
      const other = new SqlStore(database, { clock: Clock.test(), ttlMs: undefined })
      await save(other, first)
      const cut = interrupted(database, async () => {
        await other.delete("a")
        if (anew) await save(other, { ...second, open: { at: 2, calls: [] } })
      })
      cut.actBefore = before
      const reason = await cut.store.fork("a", "b", at).then(
        () => "done",
        (error: unknown) => (error as SessionError).reason
      )
      expect(reason).toBe(anew && before === 0 ? "not_a_step" : "unknown_chat")
      await other.close()
    }
  )
})

describe("STAND3", () => {
  const opened = () => {
    const database = openSqlite(":memory:", { durability: "process", busyTimeoutMs: 0, clock })
    return [
      new SqlStore(database, { clock, ttlMs: undefined }),
      new SqlStore(database, { clock, ttlMs: undefined })
    ] as const
  }
  const question = line(0)
  const conflict = { reason: "store_conflict" }

  test("a conversation that another program deleted and began anew is not written over, though it has as many entries", async () => {
    const [store, other] = opened()
    const record = await store.append("a", [Store.saved(recordOf("a", [question]))], { after: 0 })
    await other.delete("a")
    await save(other, recordOf("a", [line(8)]), { after: 0 })
    const next = store.append("a", [{ type: "MessagesAdded", messages: [line(1)] }], { after: 1, record })
    await expect(next).rejects.toMatchObject(conflict)
    expect((await other.load("a"))?.thread.messages).toEqual([line(8)])
    await store.close()
  })

  test("what was said in it can be said in the next", async () => {
    const [store, other] = opened()
    await save(store, recordOf("a", [question]), { after: 0 })
    await other.delete("a")
    await save(other, recordOf("a", [line(8)]), { after: 0 })
    const messages = (await store.load("a"))?.thread.messages ?? []
    await save(store, recordOf("a", [...messages, question]), { after: 1 })
    expect((await other.load("a"))?.thread.messages).toEqual([line(8), question])
    await store.delete("a")
    await save(store, recordOf("a", [question]), { after: 0 })
    expect(await save(store, recordOf("a", [question, line(1)]), { after: 1 })).toEqual({ seq: 2 })
    await store.close()
  })
})
