import { Store } from "@troupe/chat/store"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { ValidationError } from "@troupe/chat/errors"
import { describe, expect, test } from "vitest"
import { sqlite, type SqliteOptions, StoreError } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { idOf, said, save } from "../double/records.ts"

const failureOf = async (ask: () => unknown): Promise<StoreError> => {
  try {
    await ask()
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return error as StoreError
  }
  throw new Error("it did not fail")
}

const notified = async (ask: () => unknown): Promise<readonly [string, string]> => {
  const { reason, message } = await failureOf(ask)
  return [reason, message]
}

describe("opening an SQLite file", () => {
  test("in a folder that is not there says which to create", async () => {
    using folder = new Folder()
    expect(await notified(() => sqlite(folder.file("none/chats.db")))).toEqual([
      "cannot_open",
      `There is no folder ${folder.file("none")}; create it, or give another path`
    ])
  })

  test("that is a folder says that it cannot be opened", async () => {
    using folder = new Folder()
    mkdirSync(folder.file("chats.db"))
    expect(await notified(() => sqlite(folder.file("chats.db")))).toEqual([
      "cannot_open",
      `${folder.file("chats.db")} cannot be opened; give this user the right to read and write the file and its folder`
    ])
  })

  test("that is no database says so, and leaves it as it is", async () => {
    using folder = new Folder()
    const path = folder.file()
    writeFileSync(path, "Dear diary,\n".repeat(100))
    expect(await notified(() => sqlite(path))).toEqual([
      "not_a_database",
      `${path} is no SQLite database; give another path`
    ])
    expect(readFileSync(path, "utf8")).toBe("Dear diary,\n".repeat(100))
  })

  test.each([
    ["its tables", "CREATE TABLE chats (name TEXT)"],
    ["its mark", "PRAGMA application_id = 7"]
  ])("of another program, known by %s, says so, and leaves it as it is", async (_, sql) => {
    using folder = new Folder()
    const path = folder.file()
    const other = new DatabaseSync(path)
    other.exec(sql)
    other.close()
    const before = readFileSync(path)
    expect(await notified(() => sqlite(path))).toEqual([
      "another_program",
      `${path} is a database of another program; give another path`
    ])
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("that may only be read says so", async () => {
    using folder = new Folder().open()
    const path = folder.file()
    await sqlite(path).close()
    chmodSync(path, 0o444)
    const source = new URL("../../src/index.ts", import.meta.url).href
    const program = `const { sqlite } = await import(${JSON.stringify(source)})
      try { sqlite(${JSON.stringify(path)}) } catch (error) { console.log(error.reason + ": " + error.message) }`
    // Rights do not bind root.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { ...user, cwd: "/" })
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    await once(child, "close")
    expect(output.trim()).toBe(
      `read_only: ${path} may only be read; give this user the right to write the file and its folder`
    )
  })

  test.each<readonly [string, unknown]>([
    ["durability", { durability: "none" }],
    ["ttlMs", { ttlMs: -1 }],
    ["busyTimeoutMs", { busyTimeoutMs: 0.5 }],
    ["clock", { clock: 7 }],
    ["other", { other: 1 }]
  ])("with the option %s that makes no sense is refused by its name", async (field, options) => {
    const ask = () => sqlite(":memory:", options as SqliteOptions)
    expect(ask).toThrow(ValidationError)
    expect(ask).toThrow(`${field}: `)
    expect(() => sqlite("")).toThrow("sqlite: must_be_a_non_empty_string")
  })
})

describe("an SQLite file", () => {
  test("that another program has locked is busy until that lets go", async () => {
    using folder = new Folder()
    const path = folder.file()
    const store = sqlite(path, { busyTimeoutMs: 20 })
    const program = `const { DatabaseSync } = require("node:sqlite")
      new DatabaseSync(${JSON.stringify(path)}).exec("BEGIN IMMEDIATE")
      process.stdout.write("locked")
      process.stdin.resume()`
    const other = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] })
    await once(other.stdout, "data")
    expect(await notified(() => save(store, said("a", "one")))).toEqual([
      "busy",
      `Another program holds the lock of ${path}; try again later`
    ])
    expect(await store.load("a")).toBeUndefined()
    other.kill("SIGKILL")
    await once(other, "close")
    expect(await save(store, said("a", "one"))).toEqual({ seq: 1 })
    await store.close()
  })

  test("that is damaged says so, of what it cannot read", async () => {
    using folder = new Folder()
    const path = folder.file()
    await sqlite(path).close()
    const { size } = statSync(path)
    const store = sqlite(path)
    for (let count = 0; count < 50; count++) await save(store, said(`chat ${count}`, "x".repeat(2_000)))
    await store.close()
    const file = openSync(path, "r+")
    const noise = Buffer.alloc(4_096, 0x5a)
    for (let at = size; at < statSync(path).size; at += 4_096) writeSync(file, noise, 0, noise.length, at)
    closeSync(file)
    const damaged = sqlite(path)
    expect(await notified(() => damaged.load("chat 49"))).toEqual([
      "corrupt",
      `${path} is damaged; put a backup in its place`
    ])
    await damaged.close()
  })

  test.each([
    ["an entry that is no JSON", "UPDATE commits SET body = '{' WHERE chat = 1"],
    ["an entry that is no record", "UPDATE commits SET body = '{}' WHERE chat = 1"],
    ["its only entry lost", "DELETE FROM commits WHERE chat = 1"],
    ["its only message lost", "DELETE FROM items WHERE chat = 1"],
    ["a message that is none", `UPDATE items SET body = '{"role":"nobody"}' WHERE chat = 1`]
  ])("with %s refuses that conversation, and keeps the others", async (_, sql) => {
    using folder = new Folder()
    const path = folder.file()
    const store = sqlite(path)
    await save(store, said("a", "one"))
    await save(store, said("b", "one"))
    const other = new DatabaseSync(path)
    other.exec(sql)
    other.close()
    const corrupt = [
      "corrupt",
      `What ${path} has of the chat a is no record; delete the chat, or put a backup in its place`
    ]
    expect(await notified(() => store.load("a"))).toEqual(corrupt)
    expect(await notified(() => store.history("a"))).toEqual(corrupt)
    expect((await store.load("b"))?.version).toBe(1)
    expect((await store.list({ search: "one" })).chats.map(({ id }) => id)).toContain("b")
    await store.delete("a")
    expect(await save(store, said("a", "anew"))).toEqual({ seq: 1 })
    await store.close()
  })
})

describe("SQLLOG6, FORM2", () => {
  /** Three entries, of which each adds a message and a known id; then rows are lost. */
  const lost = async (path: string, sql: string) => {
    const store = sqlite(path)
    const texts = ["one", "two", "three"]
    for (const after of texts.keys()) {
      const before = { messages: after, known: after }
      const record = { ...said("a", ...texts.slice(0, after + 1)), known: texts.slice(0, after + 1) }
      await store.append("a", [Store.saved(record, before)], { after })
    }
    await store.close()
    const other = new DatabaseSync(path)
    other.exec(sql)
    other.close()
    return sqlite(path)
  }
  const reasonOf = (ask: () => unknown): Promise<string> => notified(ask).then(([reason]) => reason)

  test.each([
    ["the first message", "DELETE FROM items WHERE list = 0 AND position = 0", 1],
    ["a message", "DELETE FROM items WHERE list = 0 AND position = 1", 2],
    ["the newest message", "DELETE FROM items WHERE list = 0 AND position = 2", 3],
    ["a known id", "DELETE FROM items WHERE list = 1 AND position = 1", 2],
    ["the newest known id", "DELETE FROM items WHERE list = 1 AND position = 2", 3]
  ])("a conversation that lost %s is refused from there on, and never shorter", async (_, sql, seq) => {
    using folder = new Folder()
    const store = await lost(folder.file(), sql)
    expect(await reasonOf(() => store.load("a"))).toBe("corrupt")
    expect(await reasonOf(() => store.history("a"))).toBe("corrupt")
    expect(await reasonOf(() => store.fork("a", "b"))).toBe("corrupt")
    expect(await reasonOf(() => save(store, said("a", "one", "other")))).toBe("corrupt")
    for (const [index, entry] of [1, 2, 3].entries()) {
      if (entry >= seq) expect(await reasonOf(() => store.at("a", entry))).toBe("corrupt")
      else expect((await store.at("a", entry))?.thread.messages.length).toBe(index + 1)
    }
    expect((await store.list()).chats.map(({ id }) => id)).toEqual(["a"])
    await store.close()
  })

  test("a conversation that lost its newest entry is refused, and nothing is begun or written in its place", async () => {
    using folder = new Folder()
    const store = await lost(folder.file(), "DELETE FROM commits WHERE seq = 3")
    expect(await reasonOf(() => store.load("a"))).toBe("corrupt")
    expect(await reasonOf(() => store.at("a", 3))).toBe("corrupt")
    expect(await reasonOf(() => store.history("a"))).toBe("corrupt")
    expect(await reasonOf(() => save(store, said("a", "anew"), { after: 3 }))).toBe("corrupt")
    expect(await reasonOf(() => store.rewind("a", 1))).toBe("corrupt")
    expect(await reasonOf(() => store.fork("a", "b", 3))).toBe("corrupt")
    expect((await store.history("a", { limit: 2 })).length).toBe(2)
    expect((await store.fork("a", "b")).thread).toEqual(said("a", "one", "two").thread)
    await store.close()
  })

  test("entries written before they said how many items they add are read as ever", async () => {
    using folder = new Folder()
    const older = "UPDATE commits SET body = json_remove(body, '$.messages', '$.known.added')"
    const store = await lost(folder.file(), older)
    expect(await store.load("a")).toMatchObject({ ...said("a", "one", "two", "three"), version: 3 })
    expect((await store.history("a")).map(({ kept, messages }) => [kept, messages.length])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1]
    ])
    await store.close()
  })
})

test("a draft that is damaged refuses its conversation until another entry removes it", async () => {
  using folder = new Folder()
  const path = folder.file()
  const store = sqlite(path)
  await save(store, said("a", "one"))
  await store.keepDraft("a", "so far", 1)
  const other = new DatabaseSync(path)
  other.exec("UPDATE drafts SET body = '{'")
  other.close()
  expect((await notified(() => store.load("a")))[0]).toBe("corrupt")
  expect(await store.rewind("a", 1)).toMatchObject({ version: 2 })
  expect(await store.load("a")).toMatchObject({ version: 2 })
  await store.close()
})

test("an id that a database could take for another's is refused", async () => {
  const store = sqlite(":memory:")
  for (const id of ["a\ud800", "a\0b"]) {
    await expect(save(store, said(id, "one"))).rejects.toThrow("must_be_well_formed_text")
    await expect(store.load(id)).rejects.toBeInstanceOf(ValidationError)
  }
  await store.close()
})

test("an id is text of at most 2,048 bytes, and a longer one refused as that", async () => {
  const store = sqlite(":memory:")
  expect(await save(store, said(idOf(2_048), "one"))).toEqual({ seq: 1 })
  for (const id of [idOf(2_049), "\u4e2d".repeat(683)]) {
    await expect(save(store, said(id, "one"))).rejects.toThrow("id: must_be_at_most 2048 bytes")
    await expect(store.fork(idOf(2_048), id)).rejects.toBeInstanceOf(ValidationError)
    await expect(store.load(id)).rejects.toBeInstanceOf(ValidationError)
  }
  await store.close()
})
