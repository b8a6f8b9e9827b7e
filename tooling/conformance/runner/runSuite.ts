/**
 * Runs the cases of a suite, judges each, and reports them.
 *
 * Each case ends in one of five ways: it passed; it failed; it deviates, because decisions explain each of its differences;
 * it is skipped; or it is not examined. An unknown facet of a case is not examined; the other facets are.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { type Deviation, reasonOf } from "./deviating.ts"
import { textOf } from "./fields.ts"
import { type Case, type ClockKind, type Finding, readCases, type Suite } from "./suite.ts"
import { unexaminedOf } from "./unexamined.ts"

/** How a case ended. */
type Status = "passed" | "failed" | "deviates" | "skipped" | "unexamined"

/** The result of a case; `detail` is the difference, the reason of the deviation, or the reason why it was not run. */
export interface CaseResult {
  readonly id: string
  readonly status: Status
  readonly detail: string
  /** The facets that are unknown to the runner. */
  readonly unexamined: ReadonlyArray<string>
}

/** The selection of the cases, and the options of the run. */
export interface RunOptions {
  /** Only cases whose id contains this. */
  readonly only?: string | undefined
  /** Default `"virtual"`. */
  readonly clock?: ClockKind | undefined
  /** Longest time of a case, in milliseconds of the host. Default 40,000. */
  readonly timeoutMs?: number | undefined
}

/** The printed lines, the last of which is the tally, and whether every failure is explained by a decision. */
export interface Report {
  readonly lines: ReadonlyArray<string>
  readonly asExpected: boolean
}

/** Runs the cases of a file or a folder; the results are in the order of the cases. */
export const runSuite = async (
  suite: Suite,
  deviations: ReadonlyArray<Deviation>,
  path: string,
  { only = "", clock = "virtual", timeoutMs = 40_000 }: RunOptions = {}
): Promise<ReadonlyArray<CaseResult>> => {
  const results = new Map<Case, CaseResult>()
  const cases = readCases(suite, path).filter(({ id }) => id.includes(only))
  const waiting = [...cases]
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      results.set(one, judged(one, await inTime(one, clock, timeoutMs), deviations))
    }
  }
  await Promise.all(Array.from({ length: clock === "real" ? suite.concurrency : 1 }, worker))
  return cases.flatMap((one) => results.get(one) ?? [])
}

/** Reports each case that failed or deviates, and the unexamined ones; the tally comes last, with those counted apart if so chosen. */
export const reportOf = (results: ReadonlyArray<CaseResult>, isApart = false): Report => {
  const of = (status: Status) => results.filter((result) => result.status === status)
  const [passed, failed, deviating] = [of("passed").length, of("failed").length, of("deviates").length]
  const unexamined = unexaminedOf(results)
  return {
    lines: [
      ...of("failed").map(({ id, detail }) => `${id}: ${detail}`),
      ...of("deviates").map(({ id, detail }) => `${id}: deviates (${detail})`),
      ...unexamined.lines,
      `${deviating} deviate by decision; not run: ${counted(of("skipped"))}; ${unexamined.tally}`,
      `${passed} passed, ${failed} failed${isApart ? `, ${of("unexamined").length} not examined` : ""}`
    ],
    asExpected: failed === 0
  }
}

const judged = (one: Case, finding: Finding, deviations: ReadonlyArray<Deviation>): CaseResult => {
  const ended = (status: Status, detail = "", unexamined: ReadonlyArray<string> = []): CaseResult => ({
    id: one.id,
    status,
    detail,
    unexamined
  })
  if ("notRun" in finding) return ended(finding.notRun, finding.because)
  const found = finding.filter(({ isUnexamined }) => isUnexamined !== true)
  const unknown = finding.filter(({ isUnexamined }) => isUnexamined === true).map(({ path }) => path)
  if (found.length > 0) {
    const because = reasonOf(deviations, one.facts, found)
    if (because !== undefined) return ended("deviates", because, unknown)
    return ended("failed", found.map(({ path, message }) => `${path}: ${message}`).join(" | "), unknown)
  }
  const isWholeUnknown = unknown.length > 0 && unknown.length === Object.keys(one.facts.expected).length
  return isWholeUnknown ? ended("unexamined", `the facets ${unknown.join(", ")}`) : ended("passed", "", unknown)
}

/** The finding of a case; a case that throws, or exceeds its time, differs in its runner. */
const inTime = (one: Case, clock: ClockKind, ms: number): Promise<Finding> =>
  new Promise((resolve) => {
    const fail = (message: string): void => resolve([{ path: "runner", message }])
    const timer = Clock.live.setTimeout(() => fail(`took longer than ${ms} ms`), ms)
    one
      .run(clock)
      .then(resolve, (thrown: unknown) =>
        fail(thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown))
      )
      .finally(() => Clock.live.clearTimeout(timer))
  })

/** The number of results with each detail. */
const counted = (results: ReadonlyArray<CaseResult>): string => {
  const counts = Object.entries(Object.groupBy(results, ({ detail }) => detail))
  return counts.length === 0 ? "none" : counts.map(([detail, of]) => `${of?.length} ${detail}`).join(", ")
}
