import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { reportDispatch } from "../conformance/dispatch/report.ts"

const folders: Array<string> = []

const folderOf = (files: Readonly<Record<string, unknown>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "dispatch-cases-"))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content))
  return folder
}

const keyed = (key: string, value: unknown): object => ({ [key]: value })

const caseOf = (id: string, when: object, given: object = {}, expected: object = {}): object => ({
  id,
  given,
  when,
  ...keyed("then", expected)
})

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

test("a case of which no part is ours is not supported, with the reason, and no failure", async () => {
  const folder = folderOf({
    "cases.json": [caseOf("C-1", { spawn: true })],
    "golden-odd.json": { oracle: {}, runs: [{ id: "G-1" }] }
  })
  expect(await reportDispatch(folder)).toEqual({
    lines: [
      "not supported, subagents: C-1",
      "not supported, golden-odd.runs is not run: G-1",
      "0 deviate by decision; 2 not supported",
      "0 passed, 0 failed"
    ],
    asExpected: true
  })
})
