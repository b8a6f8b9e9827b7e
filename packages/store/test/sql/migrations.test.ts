import { once } from "node:events"
import { DatabaseSync } from "node:sqlite"
import { Worker } from "node:worker_threads"
import { describe, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { expectMigrated } from "../double/migrated.ts"
import { run, source } from "../double/programs.ts"
import { said, withError, save } from "../double/records.ts"
import { sqliteVersion1 } from "../double/version1.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const write = (path: string, statements: ReadonlyArray<string>): void => {
  const other = new DatabaseSync(path)
  for (const statement of statements) other.exec(statement)
  other.close()
}

/** Everything that is said of tables, and how often each version was noted. */
const schemaOf = (path: string): ReadonlyArray<unknown> => {
  const other = new DatabaseSync(path, { readOnly: true })
  const shape =
    "SELECT type, name, replace(replace(sql, char(10), ' '), '  ', '') AS sql FROM sqlite_schema ORDER BY name"
  const tables = other
    .prepare(shape)
    .all()
    .map(({ type, name, sql }) => [type, name, String(sql).replaceAll(/\s+/g, "")])
  const versions = other.prepare("SELECT version FROM migrations ORDER BY version").all()
  other.close()
  return [tables, versions.map(({ version }) => version)]
}

describe("MIGRATE1", () => {
  test("a file of version 1 is brought up to date, once, and keeps everything it had", async () => {
    using folder = new Folder()
    const path = folder.file()
    write(path, sqliteVersion1)
    await sqlite(path).close()
    const store = sqlite(path)
    await expectMigrated(store)
    await store.close()
    expect(schemaOf(path)[1]).toEqual([1, 2])
  })

  test("what is brought up to date has the schema of what is new", async () => {
    using folder = new Folder()
    const [old, fresh] = [folder.file(), folder.file()]
    write(old, sqliteVersion1)
    await sqlite(old).close()
    await sqlite(fresh).close()
    expect(schemaOf(old)).toEqual(schemaOf(fresh))
  })

  test("programs that create one file at once all use it", async () => {
    using folder = new Folder()
    const path = folder.file()
    const text = `const { sqlite } = await import(${JSON.stringify(source)})
      const store = sqlite(process.argv[1], { busyTimeoutMs: 60_000 })
      const record = { thread: { messages: [] }, usage: {}, running: false, pendingToolCalls: [] }
      const { saved } = (await import(${JSON.stringify(import.meta.resolve("@troupe/chat/store"))})).Store
      const id = String(process.pid)
      const { version } = await store.append(id, [saved({ ...record, id })])
      console.log(version)
      await store.close()`
    expect(await Promise.all([run(text, path), run(text, path), run(text, path)])).toEqual(["1", "1", "1"])
    const store = sqlite(path)
    expect((await store.list()).chats.length).toBe(3)
    await store.close()
    expect(schemaOf(path)[1]).toEqual([1, 2])
  })

  test("threads that create and open many files at once use them all", async () => {
    using folder = new Folder()
    const text = `import { workerData } from "node:worker_threads"
      const { sqlite } = await import(${JSON.stringify(source)})
      const gate = new Int32Array(workerData.gate)
      for (let file = 0; file < ${seedsOf(300).length}; file++) {
        Atomics.add(gate, 0, 1)
        Atomics.notify(gate, 0)
        for (let ready; (ready = Atomics.load(gate, 0)) < (file + 1) * 3; ) Atomics.wait(gate, 0, ready)
        sqlite(workerData.folder + "/" + file + ".db", { busyTimeoutMs: 60_000 })
      }`
    const gate = new SharedArrayBuffer(4)
    const url = new URL(`data:text/javascript,${encodeURIComponent(text)}`)
    const ends = [1, 2, 3].map(() => once(new Worker(url, { workerData: { gate, folder: folder.path } }), "exit"))
    expect(await Promise.all(ends)).toEqual([[0], [0], [0]])
  })

  test("a migration that fails leaves the file as it was", () => {
    using folder = new Folder()
    const path = folder.file()
    write(path, [
      ...sqliteVersion1,
      "CREATE TABLE items_superseded (x)",
      "CREATE TRIGGER items_deleted AFTER DELETE ON chats BEGIN SELECT 1; END"
    ])
    const before = schemaOf(path)
    expect(() => sqlite(path)).toThrow(expect.objectContaining({ reason: "failed" }))
    expect(schemaOf(path)).toEqual(before)
  })
})

test("TERR1 an index of an earlier program has the texts of errors, and a search does not find them", async () => {
  using folder = new Folder()
  const path = folder.file()
  const before = sqlite(path)
  await save(before, withError)
  await before.list({ search: "how are" })
  await before.close()
  const item = "(SELECT item FROM items WHERE body LIKE '%hunter2%')"
  write(path, [`DELETE FROM words WHERE rowid = ${item}`, `INSERT INTO words (rowid, text) SELECT ${item}, 'hunter2'`])
  const store = sqlite(path)
  for (const search of ["hunter2", "r2"]) expect(await store.list({ search })).toEqual({ chats: [] })
  expect((await store.list({ search: "how are" })).chats).toHaveLength(1)
  await store.close()
})

test("MIGRATE2: a file of a newer schema is refused, and not touched", async () => {
  using folder = new Folder()
  const path = folder.file()
  const store = sqlite(path)
  await save(store, said("a", "one"))
  await store.close()
  write(path, ["INSERT INTO migrations (version, name, applied_at) VALUES (99, 'the future', 0)"])
  const before = schemaOf(path)
  const message = `${path} has the schema 99, and this version of @troupe/store supports those up to 2; install a newer one`
  expect(() => sqlite(path)).toThrow(expect.objectContaining({ reason: "newer_schema", message }))
  expect(schemaOf(path)).toEqual(before)
})
