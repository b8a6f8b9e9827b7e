import { readdirSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { Testing } from "@troupe/testing"
import { afterAll, describe, expect, test } from "vitest"
import { blobFolder, sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"
import { said, save } from "../double/records.ts"

type MakeStore = Parameters<typeof Testing.sessionStoreLaws>[0]

const folder = new Folder()
afterAll(() => folder[Symbol.dispose]())

const hourMs = 3_600_000
const digest = "d".repeat(64)
const bytes = Uint8Array.of(1, 2, 3)
const filesIn = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(path, name)).isFile())

const stores: Readonly<Record<string, MakeStore>> = {
  memory: (options) => Store.memory(options),
  SQLite: (options) => sqlite(":memory:", options)
}

describe.each(Object.keys(stores))("a folder of blobs beside a store in %s", (name) => {
  const make: MakeStore = async (options) => {
    const inner = await stores[name]?.(options)
    if (inner === undefined) throw new Error("There is no such store")
    return blobFolder(folder.file(), inner, { clock: options.clock })
  }
  test.each(Testing.sessionStoreLaws(make))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

test("BLOBFILE1. a program that ends while it writes a blob leaves none, and the next put stores all of its bytes", async () => {
  const path = folder.file()
  const store = blobFolder(path, Store.memory())
  await store.blobs?.put("a", "other", bytes)
  const [other = ""] = filesIn(path).filter((name) => !name.includes("."))
  writeFileSync(join(path, dirname(other), `${digest}.1.part`), "1")
  expect(await store.blobs?.get("a", digest)).toBeUndefined()
  expect(await store.blobs?.size("a")).toBe(3)
  await store.blobs?.put("a", digest, bytes)
  expect(await store.blobs?.get("a", digest)).toEqual(bytes)
})

test("BLOBFILE2. no id of a chat or a blob reaches outside of the folder, and two ids are two blobs", async () => {
  const path = folder.file()
  const store = blobFolder(join(path, "blobs"), Store.memory())
  const ids = ["..", "../../x", "/etc/passwd", "a/b", "a\\b", "con", "A", "a", "\u0000", "%2e%2e", "x61", "ä", digest]
  for (const [at, id] of ids.entries()) {
    await store.blobs?.put(id, id, Uint8Array.of(at))
    await store.blobs?.put("all", id, Uint8Array.of(at))
  }
  expect(readdirSync(path)).toEqual(["blobs"])
  for (const [at, id] of ids.entries()) {
    expect([await store.blobs?.get(id, id), await store.blobs?.get("all", id)]).toEqual([
      Uint8Array.of(at),
      Uint8Array.of(at)
    ])
  }
  expect(await store.blobs?.size("all")).toBe(ids.length)
  for (const id of ["x".repeat(101), "\uD800", ""]) {
    await expect(store.blobs?.put("a", id, bytes)).rejects.toMatchObject({ reason: "invalid_options" })
  }
})

test("BLOBFOLDER1. the files of a conversation are removed with it, and no others", async () => {
  const path = folder.file()
  const clock = Clock.test()
  const store = blobFolder(path, Store.memory({ clock, ttlMs: 1_000 }), { clock })
  for (const id of ["deleted", "old", "kept"]) {
    await store.blobs?.put(id, digest, bytes)
    await save(store, said(id, digest))
  }
  await store.fork("deleted", "fork")
  expect(await store.blobs?.get("fork", digest)).toEqual(bytes)
  await store.delete("deleted")
  expect(await store.blobs?.get("deleted", digest)).toBeUndefined()
  expect(await store.blobs?.get("fork", digest)).toEqual(bytes)
  await clock.advance(hourMs)
  await save(store, said("fork", digest))
  await store.expire((id) => id === "kept")
  const left = await Promise.all(["deleted", "old", "kept", "fork"].map(async (id) => store.blobs?.size(id)))
  expect(left).toEqual([0, 0, 3, 3])
  for (const id of ["kept", "fork"]) await store.delete(id)
  expect(filesIn(path)).toEqual([])
})

test("BLOBFOLDER1. a program that ends in the middle of a deletion leaves it to the next one; a refused deletion removes nothing", async () => {
  const path = folder.file()
  const log = Store.memory()
  let ends: (() => Promise<void>) | undefined
  const dying = blobFolder(path, { ...log, delete: () => ends?.() })
  for (const id of ["a", "b"]) {
    await dying.blobs?.put(id, digest, bytes)
    await save(dying, said(id, digest))
  }
  ends = async () => {
    throw new Error("refused")
  }
  await expect(dying.delete("b")).rejects.toThrow("refused")
  ends = async () => {
    await log.delete("a")
    throw new Error("the program ended")
  }
  await expect(dying.delete("a")).rejects.toThrow("ended")
  const next = blobFolder(path, log)
  await next.load("b")
  expect(await next.blobs?.get("a", digest)).toBeUndefined()
  expect(await next.blobs?.get("b", digest)).toEqual(bytes)
  expect(filesIn(path).filter((name) => name.endsWith(".check"))).toEqual([])
})

test("a folder beside a store with blobs has the new ones, and finds the others", async () => {
  const log = sqlite(":memory:")
  await log.blobs?.put("a", "before", bytes)
  await save(log, said("a", "before"))
  const path = folder.file()
  const store = blobFolder(path, log)
  await store.blobs?.put("a", digest, bytes)
  expect(await store.blobs?.get("a", "before")).toEqual(bytes)
  expect(await log.blobs?.get("a", digest)).toBeUndefined()
  expect(await store.blobs?.size("a")).toBe(6)
  await store.close()
})

test("a folder that cannot be used is an error that names it", async () => {
  const file = folder.file("a file")
  writeFileSync(file, "")
  const store = blobFolder(file, Store.memory())
  await expect(store.blobs?.put("a", digest, bytes)).rejects.toMatchObject({ reason: "cannot_open", database: file })
  expect(() => blobFolder("", Store.memory())).toThrow("blobFolder: must_be_a_non_empty_string")
})
