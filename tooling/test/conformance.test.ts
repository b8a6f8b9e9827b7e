import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { adds, type CaseFacts, type Deviation, is, isAt, lacks, reasonOf, text } from "../conformance/deviating.ts"
import { deviations } from "../conformance/deviations.ts"
import type { JsonObject } from "../conformance/json.ts"
import { runCases } from "../conformance/report.ts"
import { readCases } from "../conformance/suite.ts"
import type { Suite } from "../conformance/suite.ts"

const failing = (...ids: ReadonlyArray<string>): Suite => ({
  run: async ({ id }) => (ids.includes(id) ? "it differs" : undefined)
})
const keyed = (key: string, value: JsonObject): JsonObject => ({ [key]: value })
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
  expect(report).toEqual({
    passed: 2,
    failed: 1,
    deviating: 0,
    lines: ["b: it differs"],
    tally: "0 cases and 0 facets not examined",
    asExpected: false
  })
})

test("a case that cannot be run has failed", async () => {
  const broken: Suite = { run: () => Promise.reject(new TypeError("no such key")) }
  expect((await runCases("any", broken, cases("a"), options)).lines).toEqual(["a: TypeError: no such key"])
})

test("a case whose step the runner does not know, and a facet that it does not know, are not examined", async () => {
  const flies: Suite = { run: async ({ id }) => (id === "a" ? "not supported: fly" : undefined) }
  const facet = { id: "b", content: keyed("then", { obs: {}, heat: 7 }) }
  expect(await runCases("otp", flies, [...cases("a"), facet], options)).toMatchObject({
    passed: 1,
    failed: 0,
    lines: ["not examined, the step fly: a", "not examined, the facet heat: b"],
    tally: "1 cases and 1 facets not examined",
    asExpected: true
  })
})

test("DEV1 finalizers that run on a signal are excused in the trace, and nowhere else", async () => {
  const one = { id: "a", content: { when: [["try_after", ["wait_forever"], [["note", "after"]]]] } }
  const report = (complaint: string, found: object = one) =>
    runCases("otp", { run: async () => complaint }, [found as typeof one], options)
  const note = 'trace[0] is ["a","note","after"], not missing'
  expect(await report(note)).toMatchObject({ deviating: 1, failed: 0, asExpected: true })
  expect((await report(note)).lines).toEqual([expect.stringMatching(/^a: deviates \(P1: Finalizers/)])
  for (const other of ['obs.a[0] is ["a","note","after"], not missing', 'trace[0] is ["a","init"], not missing']) {
    expect(await report(other)).toMatchObject({ deviating: 0, failed: 1 })
  }
  expect(await report(note, { id: "a", content: {} })).toMatchObject({ failed: 1 })
})

describe("a rule of deviations", () => {
  const one: CaseFacts = { suite: "chat", operation: "run", given: {}, expected: {} }
  const rule: Deviation = {
    suite: "chat",
    topic: "T",
    decision: "because",
    path: "steps.*.done",
    value: is(true, false)
  }
  const difference = { path: "steps.3.done", message: "", ours: true, theirs: false }

  test("DEV1 excuses its path and its value in its suite", () => {
    expect(reasonOf([rule], one, [difference])).toBe("T: because")
    expect(reasonOf([rule], { ...one, suite: "dispatch" }, [difference])).toBeUndefined()
    expect(reasonOf([rule], one, [{ ...difference, ours: false }])).toBeUndefined()
    for (const path of ["steps.done", "steps.3.4.done", "steps.3.done.x", "a.steps.3.done"]) {
      expect(reasonOf([rule], one, [{ ...difference, path }])).toBeUndefined()
    }
  })

  test("DEV1 speaks of the cases that it is about", () => {
    expect(reasonOf([{ ...rule, of: () => false }], one, [difference])).toBeUndefined()
  })

  test("DEV2 leaves a case failed while a difference is left", () => {
    expect(reasonOf([rule], one, [difference, { ...difference, path: "ok" }])).toBeUndefined()
  })

  test("may have any number of steps, and names with a dollar, in its path", () => {
    expect(["done", "a.done", "a.b.done"].map((path) => isAt(path, "**.done"))).toEqual([true, true, true])
    expect(isAt("error.$error", "error.$error")).toBe(true)
    expect(isAt("a.undone", "**.done")).toBe(false)
  })

  test("states of lists what is added or left out, and of which kind", () => {
    const tools = adds(text(/^tool/))
    expect(tools(["user", "tool:a"], ["user"], "")).toBe(true)
    expect(tools(["user", "user"], ["user"], "")).toBe(false)
    expect(tools(["assistant", "tool:a"], ["user"], "")).toBe(false)
    const asked = lacks(text(/^ask/))
    expect(asked(["ask:a"], ["ask:a", "ask:b"], "")).toBe(true)
    expect(asked(["ask:a"], ["ask:a", "answered:b"], "")).toBe(false)
  })
})

test("every deviation has a decision in words, and a path", () => {
  for (const { decision, path } of deviations) {
    expect(decision).toMatch(/^[A-Z].* /)
    expect(path).toMatch(/\w/)
  }
})
