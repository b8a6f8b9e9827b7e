/**
 * Runs the cases of a suite and tells how they went.
 *
 * @module
 */
import { fieldsOf } from "./chat/caseFile.ts"
import type { Difference } from "./chat/matching.ts"
import type { CaseFacts } from "./deviating.ts"
import { deviationOf } from "./deviations.ts"
import type { Case, ClockKind, Complaint, Suite } from "./suite.ts"
import { type Unexamined, unexaminedOf } from "./unexamined.ts"

/** How the cases went. */
export interface Report {
  readonly passed: number
  readonly failed: number
  /** Those that differ as decisions say. */
  readonly deviating: number
  /** One line for each case that failed or deviates, in the order of the cases, and for what was not examined. */
  readonly lines: ReadonlyArray<string>
  /** How much was not examined. */
  readonly tally: string
  /** Whether nothing failed. */
  readonly asExpected: boolean
}

interface Outcome extends Unexamined {
  readonly status: "passed" | "failed" | "deviates" | "unexamined"
}

const facets: ReadonlySet<string> = new Set(["obs", "exits", "alive", "trace"])

const judge = (suite: string, { id, content }: Case, complaint: Complaint): Outcome => {
  const expected = fieldsOf(content["then"])
  const unexamined = Object.keys(expected).filter((facet) => !facets.has(facet))
  if (complaint === undefined) return { id, status: "passed", detail: "", unexamined }
  const unknown = /^not supported: (.*)$/.exec(complaint)?.[1]
  if (unknown !== undefined) return { id, status: "unexamined", detail: `the step ${unknown}`, unexamined: [] }
  const one: CaseFacts = { suite: "otp", operation: "script", given: content, expected }
  const because = suite === "otp" ? deviationOf(one, [differenceOf(complaint)]) : undefined
  return because === undefined
    ? { id, status: "failed", detail: complaint, unexamined }
    : { id, status: "deviates", detail: because, unexamined }
}

/** `trace[2] is 1, not 2`, as a path and what is said of it. */
const differenceOf = (complaint: string): Difference => {
  const [, path = "", message = complaint] = /^(\S+) (is .*)$/s.exec(complaint) ?? []
  return { path: path.replaceAll(/\[(\d+)\]/g, ".$1"), message }
}

const complaintOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `${error}`

/** Runs cases, so many at a time; every case is judged, whatever becomes of it. */
export const runCases = async (
  name: string,
  suite: Suite,
  cases: ReadonlyArray<Case>,
  options: { readonly clock: ClockKind; readonly concurrency: number }
): Promise<Report> => {
  const outcomes = new Map<Case, Outcome>()
  const waiting = [...cases]
  const worker = async (): Promise<void> => {
    for (let found = waiting.shift(); found !== undefined; found = waiting.shift()) {
      outcomes.set(found, judge(name, found, await suite.run(found, options.clock).catch(complaintOf)))
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
  const judged = cases.flatMap((found) => outcomes.get(found) ?? [])
  const of = (status: Outcome["status"]) => judged.filter((outcome) => outcome.status === status)
  const { lines, tally } = unexaminedOf(judged)
  return {
    passed: of("passed").length,
    failed: of("failed").length,
    deviating: of("deviates").length,
    lines: [
      ...of("failed").map(({ id, detail }) => `${id}: ${detail}`),
      ...of("deviates").map(({ id, detail }) => `${id}: deviates (${detail})`),
      ...lines
    ],
    tally,
    asExpected: of("failed").length === 0
  }
}
