import { expect, test } from "vitest"
import { clusterLines, clusterRows } from "../../bench/cluster/lines.ts"
import { contenders } from "../../bench/contenders.ts"
import { contendersOf, lines as chatLines, rowsOf } from "../../bench/lines.ts"
import { lines } from "../../bench/otp/lines.ts"
import { keyOf, runOnce, Samples } from "../../bench/rounds.ts"
import { isGood, tableOf, verdictOf } from "../../bench/table.ts"
import { readText } from "../../house/workspace.ts"

test("the bench's Elixir program has exactly the lines whose cost on the BEAM was recorded", () => {
  const program = readText("tooling/bench/otp/beam.exs")
  const has = ({ key }: { readonly key: string }): boolean => program.includes(`"${key}"`)
  expect(lines.filter(has)).toEqual(lines.filter(({ beam }) => beam !== undefined))
})

test("one living chat that runs program A has at most 6 processes and 565 promises, of which the program itself makes 504", async () => {
  const { processes, promises } = await runOnce("counts")
  expect(processes).toBeLessThanOrEqual(6)
  expect(promises).toBeLessThanOrEqual(565)
})

test("one living chat that runs program A allocates at most 298 kB", async () => {
  const { allocatedKb } = await runOnce("allocated living")
  expect(allocatedKb).toBeLessThanOrEqual(298)
})

test.each([
  [2, "in aim", false],
  [2.1, "in bound", false],
  [3, "in bound", false],
  [3.01, "FAILS", false],
  [Number.NaN, "FAILS", false],
  [3, "in aim", true],
  [1.9, "FAILS", true]
] as const)(
  "a figure of %d is %s with the aim 2 and the bound 3; or the other way round: %s",
  (measured, verdict, isLeast) => {
    const limit = isLeast ? { bound: 2, aim: 3, isLeast } : { bound: 3, aim: 2 }
    expect(verdictOf(measured, limit)).toBe(verdict)
    expect(verdictOf(3.01, { bound: Infinity, aim: 2 })).toBe("beyond aim")
  }
)

test("a figure of chats is the ratio of the medians of its contenders, and of failures the worst one", () => {
  const results = new Samples()
  for (const cpuMs of [30, 10, 20]) results.add(keyOf("pi delta", "cpuMs"), cpuMs)
  for (const cpuMs of [100, 900, 120]) results.add(keyOf("stream delta", "cpuMs"), cpuMs)
  for (const failed of [0, 2, 0]) results.add(keyOf("crowd of 30,000", "failed"), failed)
  expect(rowsOf(["delta", "crowd"], results).map(({ measured }) => measured)).toEqual([6, NaN, 2, NaN, NaN])
})

test("a figure whose contender has no costs fails, and the other figures are shown", () => {
  const results = new Samples()
  for (const quantity of ["processes", "promises"] as const) results.add(keyOf("counts", quantity), 0)
  const rows = rowsOf(["counts", "allocated"], results)
  expect(isGood(rowsOf(["counts"], results))).toBe(true)
  expect(isGood(rows)).toBe(false)
  expect(tableOf(rows).filter((row) => row.includes("in aim"))).toHaveLength(2)
})

test("a figure of a cluster is the median of its samples, and of failures the worst one; without samples it fails", () => {
  const samples = new Samples()
  for (const key of ["term", "token"]) for (const value of [700, 100, 1]) samples.add(key, value)
  const rows = clusterRows(
    samples,
    clusterLines.filter(({ key }) => ["term", "token", "limited"].includes(key))
  )
  expect(rows.map(({ measured }) => measured)).toEqual([700, 100, NaN])
  expect(isGood(rows)).toBe(false)
})

test("each line of the bench has its own key, and each contender has a line", () => {
  const keys = clusterLines.map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
  expect([...contendersOf(Object.keys(chatLines))].toSorted()).toEqual(Object.keys(contenders).toSorted())
})
