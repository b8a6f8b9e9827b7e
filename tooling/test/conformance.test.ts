import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { deviations } from "../conformance/deviations.ts"
import { runCases } from "../conformance/report.ts"
import { readCases } from "../conformance/suite.ts"
import type { Suite } from "../conformance/suite.ts"

const failing = (...ids: ReadonlyArray<string>): Suite => ({
  run: async ({ id }) => (ids.includes(id) ? "it differs" : undefined)
})
const cases = (...ids: ReadonlyArray<string>) => ids.map((id) => ({ id, content: {} }))
const options = { clock: "virtual", concurrency: 2 } as const

test("a folder's cases are those of its JSON files, of one case or of many, by their ids", () => {
  const folder = mkdtempSync(join(tmpdir(), "cases-"))
  writeFileSync(join(folder, "two.json"), JSON.stringify([{ id: "b" }, { id: "c" }]))
  writeFileSync(join(folder, "one.json"), JSON.stringify({ id: "a" }))
  writeFileSync(join(folder, "FORMAT.md"), "# format")
  expect(readCases(folder).map(({ id }) => id)).toEqual(["a", "b", "c"])
  expect(readCases(join(folder, "one.json")).map(({ id }) => id)).toEqual(["a"])
  rmSync(folder, { recursive: true })
})

test("a report counts the cases, and has a line for each that failed", async () => {
  const report = await runCases("any", failing("b"), cases("a", "b", "c"), options)
  expect(report).toEqual({ passed: 2, failed: 1, deviating: 0, lines: ["b: it differs"], asExpected: false })
})

test("a case that cannot be run has failed", async () => {
  const broken: Suite = { run: () => Promise.reject(new TypeError("no such key")) }
  expect((await runCases("any", broken, cases("a"), options)).lines).toEqual(["a: TypeError: no such key"])
})

test("a listed deviation may fail, and must not pass", async () => {
  const [deviation] = deviations
  const { suite = "", id = "", decision = "", reason = "" } = deviation ?? {}
  expect(await runCases(suite, failing(id), cases(id), options)).toEqual({
    passed: 0,
    failed: 0,
    deviating: 1,
    lines: [`${id}: deviates (${decision}): ${reason}`],
    asExpected: true
  })
  expect(await runCases(suite, failing(), cases(id), options)).toMatchObject({ failed: 1, asExpected: false })
  expect((await runCases("other", failing(id), cases(id), options)).asExpected).toBe(false)
})

test("every deviation names its case once, with its decision and the reason", () => {
  expect(new Set(deviations.map(({ suite, id }) => `${suite}/${id}`)).size).toBe(deviations.length)
  for (const { decision, reason } of deviations) {
    expect(decision).toMatch(/^[A-Z]\d+$/)
    expect(reason).not.toBe("")
  }
})
