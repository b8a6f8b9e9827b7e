import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Fake, Troupe } from "@troupe/chat"
import { Testing } from "@troupe/testing"
import { afterAll, describe, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"

const folder = mkdtempSync(join(tmpdir(), "troupe-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const file = (): string => join(folder, `${++files}.db`)

describe("the store in an SQLite file", () => {
  test.each(Testing.sessionStoreLaws((options) => sqlite(file(), options)))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

describe("the store in SQLite in memory", () => {
  test.each(Testing.sessionStoreLaws((options) => sqlite(":memory:", options)))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

test("OPT1 a misspelt option is refused with the option that it resembles, and a missing place with what to write", () => {
  expect(() => sqlite(":memory:", { durabilty: "power" } as never)).toThrow(
    "durabilty: unknown; did you mean durability?"
  )
  expect(() => sqlite(undefined as never)).toThrow("the path of a file")
})

test("an id that the database cannot store is an invalid option of the Troupe", async () => {
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }), store: sqlite(file()) })
  for (const id of ["x".repeat(5_000), "a\u0000b", "\uD800"]) {
    await expect(troupe.chat(id)).rejects.toMatchObject({ reason: "invalid_options", errors: [{ field: ["id"] }] })
  }
  await troupe.stop()
})
