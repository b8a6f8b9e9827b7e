import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { deviations } from "../../conformance/deviations/deviations.ts"
import { align } from "../../conformance/otp/align.ts"
import { otpSuite } from "../../conformance/otp/otpSuite.ts"
import { adds, type Deviation, is, isAt, lacks, reasonOf, text } from "../../conformance/runner/deviating.ts"
import { type Difference, unexamined } from "../../conformance/runner/matching.ts"
import { reportOf, runSuite } from "../../conformance/runner/runSuite.ts"
import { type Case, type CaseFacts, type Finding, readCases, unexaminedCase } from "../../conformance/runner/suite.ts"

const facts: CaseFacts = { suite: "otp", operation: "script", given: {}, expected: {} }
const caseOf = (id: string, find: () => Promise<Finding>, more: Partial<CaseFacts> = {}): Case => ({
  id,
  facts: { ...facts, ...more },
  run: find
})
const differs: Difference = { path: "obs", message: "differs" }

/** The report of cases, in a file that nobody reads. */
const report = async (...cases: ReadonlyArray<Case>) => {
  const folder = mkdtempSync(join(tmpdir(), "cases-"))
  writeFileSync(join(folder, "any.json"), "[]")
  const results = await runSuite({ concurrency: 2, casesOf: () => cases }, deviations, folder, { timeoutMs: 50 })
  rmSync(folder, { recursive: true })
  return reportOf(results)
}

test("a folder's cases are those of its JSON files, of one case or of many, by the names of the files", () => {
  const folder = mkdtempSync(join(tmpdir(), "cases-"))
  writeFileSync(join(folder, "two.json"), JSON.stringify([{ id: "b" }, { id: "c" }]))
  writeFileSync(join(folder, "one.json"), JSON.stringify({ id: "a" }))
  writeFileSync(join(folder, "FORMAT.md"), "# format")
  expect(readCases(otpSuite, folder).map(({ id }) => id)).toEqual(["a", "b", "c"])
  expect(readCases(otpSuite, join(folder, "one.json")).map(({ id }) => id)).toEqual(["a"])
  rmSync(folder, { recursive: true })
})

test("a report counts the cases, and has a line for each that failed", async () => {
  const passes = async () => []
  expect(
    await report(
      caseOf("a", passes),
      caseOf("b", async () => [differs]),
      caseOf("c", passes)
    )
  ).toEqual({
    lines: [
      "b: obs: differs",
      "0 deviate by decision; not run: none; 0 cases and 0 facets not examined",
      "2 passed, 1 failed"
    ],
    asExpected: false
  })
})

test("a case that throws, and one that does not end, have failed", async () => {
  const { lines } = await report(
    caseOf("a", () => Promise.reject(new TypeError("no such key"))),
    caseOf("b", () => new Promise(() => {}))
  )
  expect(lines[0]).toMatch(/^a: runner: TypeError: no such key/)
  expect(lines[1]).toBe("b: runner: took longer than 50 ms")
})

test("a case with an unknown step, and an unknown facet, are not examined", async () => {
  const flies = caseOf("a", async () => unexaminedCase("the step fly"))
  const facet = caseOf("b", async () => [unexamined("heat")], { expected: { obs: {}, heat: 7 } })
  expect(await report(flies, facet)).toEqual({
    lines: [
      "not examined, the step fly: a",
      "not examined, the facet heat: b",
      "0 deviate by decision; not run: none; 1 cases and 1 facets not examined",
      "1 passed, 0 failed"
    ],
    asExpected: true
  })
})

test("lists are compared by their longest common part", () => {
  const compared = (required: string, got: string) =>
    align(required.split(""), got.split(""), Object.is).map(
      (found) => `${found.at}:${found.required ?? ""}>${found.got ?? ""}`
    )
  expect(compared("abc", "abc")).toEqual([])
  expect(compared("abc", "abxc")).toEqual(["2:>x"])
  expect(compared("abc", "ac")).toEqual(["1:b>"])
  expect(compared("abc", "axc")).toEqual(["1:b>x"])
  expect(compared("", "ab")).toEqual(["0:>a", "1:>b"])
  expect(compared("ab", "")).toEqual(["0:a>", "0:b>"])
})

test("DEV1 finalizers that run on a signal are excused in the trace, and nowhere else", async () => {
  const given = { when: [["try_after", ["wait_forever"], [["note", "after"]]]] }
  const ended = (path: string, ours: unknown, more: Partial<CaseFacts> = { given }) => {
    const message = `is ${JSON.stringify(ours)}, not missing`
    return report(caseOf("a", async () => [{ path, message, ours, theirs: undefined }], more))
  }
  const note = ["a", "note", "after"]
  expect((await ended("trace.0", note)).lines[0]).toMatch(/^a: deviates \(P1: Finalizers/)
  for (const failed of [ended("obs.a.0", note), ended("trace.0", ["a", "init"]), ended("trace.0", note, {})]) {
    expect(await failed).toMatchObject({ asExpected: false })
  }
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
