import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { practiceSuite } from "../../conformance/practice/practiceSuite.ts"
import { type Deviation, deviations, isAt, reasonOf } from "../../conformance/runner/deviating.ts"
import { type Fields, fieldsOf, listOf } from "../../conformance/runner/json.ts"
import { differences, type Difference, unexamined } from "../../conformance/runner/matching.ts"
import { reportOf, runCases } from "../../conformance/runner/runSuite.ts"
import { type Case, type CaseFacts, NotRun, readCases, unexaminedCase } from "../../conformance/runner/suite.ts"
import { schemaSuite } from "../../conformance/schema/schemaSuite.ts"
import { suites } from "../../conformance/suites.ts"

const folder = join(import.meta.dirname, "cases")
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"))

/** The objects of a file that have an id, wherever a suite's format places them. */
const casesIn = (content: unknown): ReadonlyArray<Fields> => {
  if (Array.isArray(content)) return content.flatMap(casesIn)
  return "id" in fieldsOf(content) ? [fieldsOf(content)] : Object.values(fieldsOf(content)).flatMap(casesIn)
}

const files = [...suites.keys()]
  .filter((suite) => suite !== "practice" && suite !== "schema")
  .flatMap((suite) => readdirSync(join(folder, suite)).map((file) => ({ suite, file })))
  .map((place) => ({ ...place, content: read(join(place.suite, place.file)) }))

/** The results of a file's cases, by id. */
const resultsOf = async ({ suite, file, content }: (typeof files)[number]) => {
  const cases = suites.get(suite)?.casesOf(content, file.replace(".json", ""), file) ?? []
  return Object.fromEntries((await runCases(cases, deviations)).map((result) => [result.id, result]))
}

/** Cases that have one of their `wrong` expectations in place of the right one. */
const spoiled = (content: unknown): unknown => {
  if (Array.isArray(content)) return content.flatMap(spoiled)
  const { wrong, ...one } = fieldsOf(content)
  if (!("id" in one)) return Object.fromEntries(Object.entries(one).map(([key, list]) => [key, spoiled(list)]))
  return listOf(wrong).map((expected, index) => ({
    ...one,
    id: `${String(one["id"])} wrong ${index}`,
    ...expecting(expected, "log" in one ? "log" : "then")
  }))
}

const expecting = (expected: unknown, key = "then"): Fields => ({ [key]: expected })

test.each(files)("CASE1 when the runner reads $suite/$file, each case ends with its verdict", async (file) => {
  const results = await resultsOf(file)
  for (const { id, verdict = "passed" } of casesIn(file.content)) {
    const { status, detail } = results[String(id)] ?? { status: "unread", detail: "" }
    expect(`${String(id)} ${status}: ${detail}`).toContain(`${String(id)} ${String(verdict)}`)
  }
})

test.each(files)("CASE2 when a case of $suite/$file has a wrong expectation, it fails", async (file) => {
  const results = Object.values(await resultsOf({ ...file, content: spoiled(file.content) }))
  expect(results.filter(({ status }) => status !== "failed")).toEqual([])
})

test.each(read("matching.json") as ReadonlyArray<ReadonlyArray<unknown>>)(
  "CASE2 when %j is compared, it matches %j, and differs from %j",
  (actual, right, wrong) => {
    const scope = {
      outcome: { ok: { steps: [1, 2] }, theirs: 6, low: 4, given: { word: "seven", other: "eight" } },
      given: { seven: 7, eight: 8, word: "seven", other: "eight" }
    }
    expect(differences(actual, right, scope)).toEqual([])
    expect(differences(actual, wrong, scope)).not.toEqual([])
  }
)

const facts: CaseFacts = { suite: "chat", operation: "run", given: {}, expected: {} }
const difference: Difference = { path: "steps.3.done", message: "differs", ours: true, theirs: false }
const caseOf = (id: string, run: Case["run"], expected: Fields = {}): Case => ({
  id,
  facts: { ...facts, expected },
  run
})

test("CASE3 when the run ends, the report lists the cases that did not pass, and ends with their number", async () => {
  const results = await runCases(
    [
      caseOf("a", async () => []),
      caseOf("b", async () => [difference]),
      caseOf("c", () => Promise.reject(new TypeError("no such key"))),
      caseOf("d", () => new Promise(() => {})),
      caseOf("e", async () => unexaminedCase("the step fly")),
      caseOf("f", async () => [unexamined("heat")], { obs: {}, heat: 7 }),
      caseOf("g", () => Promise.reject(new NotRun("optional", "skipped")))
    ],
    [],
    { timeoutMs: 50 }
  )
  expect(reportOf(results.filter(({ id }) => id !== "c"))).toEqual({
    lines: [
      "b: steps.3.done: differs",
      "d: runner: took longer than 50 ms",
      "not examined, the step fly: e",
      "not examined, the facet heat: f",
      "0 deviate by decision; not run: 1 optional; 1 cases and 1 facets not examined",
      "2 passed, 2 failed"
    ],
    asExpected: false
  })
  expect(results[2]?.detail).toMatch(/^runner: TypeError: no such key/)
  expect(reportOf(results.slice(0, 1))).toMatchObject({ asExpected: true })
})

test("CASE4 when a folder is read, the cases are those of its JSON files, in the order of the names", () => {
  const path = mkdtempSync(join(tmpdir(), "cases-"))
  const then = {}
  writeFileSync(join(path, "two.json"), JSON.stringify(["b", "c"].map((id) => ({ id, ...expecting(then) }))))
  writeFileSync(join(path, "one.json"), JSON.stringify({ id: "a", ...expecting(then) }))
  writeFileSync(join(path, "FORMAT.md"), "# format")
  const idsOf = (place: string) => readCases(suites.get("otp") as never, place).map(({ id }) => id)
  expect(idsOf(path)).toEqual(["a", "b", "c"])
  expect(idsOf(join(path, "one.json"))).toEqual(["a"])
  rmSync(path, { recursive: true })
})

const deviation: Deviation = {
  suite: "chat",
  topic: "T",
  decision: "because",
  at: { "steps.*.done": { ours: true, theirs: false } }
}

test("DEV1 when a difference has another suite, path, value or case, a deviation does not excuse it", () => {
  const reason = (found: Difference, more: Partial<Deviation> = {}, one: CaseFacts = facts) =>
    reasonOf([{ ...deviation, ...more }], one, [found])
  expect(reason(difference)).toBe("T: because")
  expect(reason(difference, { of: { operation: "run" } })).toBe("T: because")
  expect(reason(difference, { of: { operation: "step" } })).toBeUndefined()
  expect(reason(difference, { since: { path: "steps.*.done", message: "other" } })).toBeUndefined()
  expect(reason(difference, {}, { ...facts, suite: "otp" })).toBeUndefined()
  expect(reason({ ...difference, ours: false })).toBeUndefined()
  for (const path of ["steps.done", "steps.3.4.done", "steps.3.done.x", "a.steps.3.done"]) {
    expect(reason({ ...difference, path })).toBeUndefined()
  }
})

test("DEV1 when a path has `**`, it matches any number of steps", () => {
  expect(["done", "a.done", "a.b.done"].map((path) => isAt(path, "**.done"))).toEqual([true, true, true])
  expect(isAt("error.$error", "error.$error")).toBe(true)
  expect(isAt("a.undone", "**.done")).toBe(false)
})

test("DEV2 when a difference is left, the case fails", () => {
  expect(reasonOf([deviation], facts, [difference, { ...difference, path: "ok" }])).toBeUndefined()
})

const schemaResults = () => runCases(readCases(schemaSuite, join(folder, "schema")), deviations)

test("CASE1 when the runner reads tests of JSON Schema, each ends with its verdict", async () => {
  const results = await schemaResults()
  expect(results.map(({ status }) => status)).toEqual(["passed", "passed", "passed", "deviates", "deviates", "failed"])
})

test("DEV2 when the cases of this folder run, each deviation explains one of them", async () => {
  const found = (await Promise.all(files.map(resultsOf))).flatMap((file) => Object.values(file))
  const practice = await runCases(readCases(practiceSuite, join(folder, "practice/deviates")), deviations)
  const results = [...found, ...practice, ...(await schemaResults())]
  const reasons = results.map(({ status, detail }) => (status === "deviates" ? detail : "")).join("; ")
  const unused = deviations.filter(({ topic, decision }) => !reasons.includes(`${topic}: ${decision}`))
  expect(unused).toEqual([])
})
