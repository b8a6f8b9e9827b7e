/**
 * Runs the cases of a suite, judges each, and reports them.
 *
 * CASE1. A case ends in exactly one of five ways: it passed; it failed; it deviates, because decisions explain each of its
 *        differences; it is skipped; or it is not examined.
 * CASE2. A case with a wrong expectation fails. An unknown facet of a case is not examined; the other facets are.
 * CASE3. The report lists each case that did not pass. Its last line is `N passed, N failed`.
 * CASE4. The cases of a folder are those of its JSON files, in the order of their names.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { type Deviation, reasonOf } from "./deviating.ts"
import { textOf } from "./json.ts"
import { type Case, type ClockKind, type Finding, NotRun } from "./suite.ts"

/** The result of a case; `detail` is the difference, the reason of the deviation, or the reason why it was not run. */
export interface CaseResult {
  readonly id: string
  readonly status: "passed" | "failed" | "deviates" | "skipped" | "unexamined"
  readonly detail: string
  /** The facets that are unknown to the runner. */
  readonly unexamined: ReadonlyArray<string>
}

/** The options of a run. */
export interface RunOptions {
  /** Default `"virtual"`. */
  readonly clock?: ClockKind | undefined
  /** The number of cases that run at a time. Default 1. */
  readonly concurrency?: number | undefined
  /** Longest time of a case, in milliseconds of the host. Default 40,000. */
  readonly timeoutMs?: number | undefined
}

/** The printed lines, the last of which is the tally, and whether every failure is explained by a decision. */
export interface Report {
  readonly lines: ReadonlyArray<string>
  readonly asExpected: boolean
}

/** Runs cases; the results are in the order of the cases. */
export const runCases = async (
  cases: ReadonlyArray<Case>,
  deviations: ReadonlyArray<Deviation>,
  { clock = "virtual", concurrency = 1, timeoutMs = 40_000 }: RunOptions = {}
): Promise<ReadonlyArray<CaseResult>> => {
  const results: Array<CaseResult> = []
  const waiting = cases.entries()
  const worker = async (): Promise<void> => {
    for (const [place, one] of waiting) results[place] = judged(one, await inTime(one, clock, timeoutMs), deviations)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

/** Reports each case that failed or deviates, and the unexamined ones; the tally comes last, and counts those too if `isApart`. */
export const reportOf = (results: ReadonlyArray<CaseResult>, isApart = false): Report => {
  const of = (status: CaseResult["status"]) => results.filter((result) => result.status === status)
  const [passed, failed, deviating, lost] = [of("passed"), of("failed"), of("deviates"), of("unexamined")]
  const facets = results.flatMap(({ id, unexamined }) =>
    unexamined.map((facet) => ({ id, detail: `the facet ${facet}` }))
  )
  const grouped = (list: ReadonlyArray<Pick<CaseResult, "id" | "detail">>) => [
    ...Map.groupBy(list, ({ detail }) => detail)
  ]
  const skipped = grouped(of("skipped")).map(([detail, list]) => `${list.length} ${detail}`)
  return {
    lines: [
      ...failed.map(({ id, detail }) => `${id}: ${detail}`),
      ...deviating.map(({ id, detail }) => `${id}: deviates (${detail})`),
      ...[lost, facets]
        .flatMap(grouped)
        .map(([detail, list]) => `not examined, ${detail}: ${list.map(({ id }) => id).join(", ")}`),
      `${deviating.length} deviate by decision; not run: ${skipped.join(", ") || "none"}; ${lost.length} cases and ${facets.length} facets not examined`,
      `${passed.length} passed, ${failed.length} failed${isApart ? `, ${lost.length} not examined` : ""}`
    ],
    asExpected: failed.length === 0
  }
}

const judged = (one: Case, finding: Finding | NotRun, deviations: ReadonlyArray<Deviation>): CaseResult => {
  if (finding instanceof NotRun) return { id: one.id, status: finding.status, detail: finding.message, unexamined: [] }
  const found = finding.filter(({ isUnexamined }) => isUnexamined !== true)
  const unexamined = finding.filter((difference) => !found.includes(difference)).map(({ path }) => path)
  if (found.length > 0) {
    const because = reasonOf(deviations, one.facts, found)
    const detail = because ?? found.map(({ path, message }) => `${path}: ${message}`).join(" | ")
    return { id: one.id, status: because === undefined ? "failed" : "deviates", detail, unexamined }
  }
  const isWhole = unexamined.length > 0 && unexamined.length === Object.keys(one.facts.expected).length
  return isWhole
    ? { id: one.id, status: "unexamined", detail: `the facets ${unexamined.join(", ")}`, unexamined: [] }
    : { id: one.id, status: "passed", detail: "", unexamined }
}

/** The finding of a case; a case that throws, or exceeds its time, differs in its runner. */
const inTime = (one: Case, clock: ClockKind, ms: number): Promise<Finding | NotRun> =>
  new Promise((resolve) => {
    const fail = (message: string): void => resolve([{ path: "runner", message }])
    const timer = Clock.live.setTimeout(() => fail(`took longer than ${ms} ms`), ms)
    const failed = (thrown: unknown): void => {
      if (thrown instanceof NotRun) resolve(thrown)
      else fail(thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown))
    }
    one
      .run(clock)
      .then(resolve, failed)
      .finally(() => Clock.live.clearTimeout(timer))
  })
