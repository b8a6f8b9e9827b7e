import { DatabaseSync } from "node:sqlite"
import { user } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { said, save } from "../double/records.ts"

const inputOf = (id: string) => ({ id, whenBusy: "queue", message: user(`input ${id}`) }) as const

/** Executes these statements beside the store. */
const beside = (path: string, ...statements: ReadonlyArray<string>): void => {
  const other = new DatabaseSync(path)
  for (const statement of statements) other.exec(statement)
  other.close()
}

/** Adds an entry as an earlier version does, which stores waiting inputs in the entry and has no rows of them. */
const savedEarlier = (path: string, seq: number, ...ids: ReadonlyArray<string>): void => {
  const inbox = ids.length === 0 ? "" : `,"inbox":${JSON.stringify(ids.map(inputOf))}`
  const body = `{"seq":${seq},"at":0,"kind":"saved","kept":${seq === 1 ? 0 : 1},"messages":${seq === 1 ? 1 : 0},
    "state":{"usage":{},"running":false,"pendingToolCalls":[]${inbox}},"isStep":true}`
  beside(
    path,
    seq === 1
      ? `INSERT INTO chats (id, seq, writer, written, title, messages, running, created_at, updated_at)
        VALUES ('a', 1, 'w0', 1, 'Hello', 1, 0, 0, 0)`
      : `UPDATE chats SET seq = ${seq} WHERE id = 'a'`,
    `INSERT INTO commits (chat, seq, is_step, body) SELECT key, ${seq}, 1, '${body}' FROM chats WHERE id = 'a'`,
    seq === 1
      ? `INSERT INTO items (chat, list, position, seq, body)
        SELECT key, 0, 0, 1, '{"role":"user","content":"Hello"}' FROM chats WHERE id = 'a'`
      : "SELECT 1"
  )
}

const opened = (folder: Folder): readonly [path: string, store: Store.SessionStore] => {
  const path = folder.file()
  return [path, sqlite(path)]
}

const waiting = async (store: Store.SessionStore): Promise<ReadonlyArray<string> | undefined> =>
  (await store.load("a"))?.inbox?.map(({ id }) => id)

describe("SQLBOX2 the inputs of an entry of an earlier version", () => {
  test("are moved by a load, once, and the entry keeps them", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1", "i2")
    for (let count = 0; count < 2; count++) {
      expect(await store.load("a")).toMatchObject({ inbox: [inputOf("i1"), inputOf("i2")], version: 1 })
    }
    expect((await store.at("a", 1))?.inbox).toHaveLength(2)
    expect((await store.history("a"))[0]?.state.inbox).toHaveLength(2)
    await store.close()
  })

  test("come ahead of the rows that wait, and an id that has a row is not doubled", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1)
    await store.accept("a", inputOf("i3"))
    await store.accept("a", inputOf("i2"))
    savedEarlier(path, 2, "i1", "i2", "i4")
    expect(await waiting(store)).toEqual(["i1", "i4", "i3", "i2"])
    await store.close()
  })

  test.each(["save", "accept", "rewind"] as const)("are moved by a %s too, before it", async (verb) => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1", "i2")
    const verbs = {
      save: () => save(store, said("a", "Hello"), { after: 1 }),
      accept: () => store.accept("a", inputOf("i3")),
      rewind: () => store.rewind("a", 1)
    }
    await verbs[verb]()
    expect(await waiting(store)).toEqual(verb === "accept" ? ["i1", "i2", "i3"] : ["i1", "i2"])
    await store.close()
  })

  test("do not come back once they were taken, though the entry with them is the newest again after a rewind", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1", "i2")
    await save(store, said("a", "Hello", "i1"), { after: 1, takes: ["i1"] })
    expect(await waiting(store)).toEqual(["i2"])
    await store.rewind("a", 1)
    expect(await waiting(store)).toEqual(["i2"])
    await store.close()
  })

  test("are counted when the table of the rows is created", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1", "i2")
    await store.close()
    beside(
      path,
      "DROP TABLE inbox",
      "DROP INDEX chats_running",
      "DROP INDEX chats_running_ids",
      ...["waiting", "arrived", "moved"].map((column) => `ALTER TABLE chats DROP COLUMN ${column}`),
      "DELETE FROM additions WHERE name = 'waiting inputs'"
    )
    await sqlite(path).close()
    const other = new DatabaseSync(path, { readOnly: true })
    expect(other.prepare("SELECT waiting FROM chats").get()).toEqual({ waiting: 2 })
    other.close()
  })
})

describe("SQLBOX3 an earlier version that continues from an entry whose inputs were moved", () => {
  test("decides about them: an input that its next entry has no more is gone, and accepted inputs stay", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1", "i2")
    await store.accept("a", inputOf("i3"))
    expect(await waiting(store)).toEqual(["i1", "i2", "i3"])
    savedEarlier(path, 2, "i2")
    expect(await waiting(store)).toEqual(["i2", "i3"])
    savedEarlier(path, 3)
    await save(store, said("a", "Hello"), { after: 3 })
    expect(await waiting(store)).toEqual(["i3"])
    await store.close()
  })

  test("does not decide about them after an entry of this version", async () => {
    using folder = new Folder()
    const [path, store] = opened(folder)
    savedEarlier(path, 1, "i1")
    await save(store, said("a", "Hello"), { after: 1 })
    savedEarlier(path, 3)
    expect(await waiting(store)).toEqual(["i1"])
    await store.close()
  })
})
