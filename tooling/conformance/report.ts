/**
 * Runs the cases of a suite and tells how they went.
 *
 * @module
 */
import { deviationOf } from "./deviations.ts"
import type { Case, ClockKind, Complaint, Suite } from "./suite.ts"

/** How the cases went. */
export interface Report {
  readonly passed: number
  /** Those that failed and are not listed, or passed and are listed as deviations. */
  readonly failed: number
  /** Those that failed as a decision says. */
  readonly deviating: number
  /** One line for each case that failed, in the order of the cases. */
  readonly lines: ReadonlyArray<string>
  /** Whether nothing failed but what may, and everything that is listed as failing did. */
  readonly asExpected: boolean
}

interface Outcome {
  readonly passed: boolean
  readonly expected: boolean
  readonly line: string | undefined
}

const judge = (suite: string, { id }: Case, complaint: Complaint): Outcome => {
  const deviation = deviationOf(suite, id)
  const passed = complaint === undefined
  if (deviation === undefined) return { passed, expected: passed, line: passed ? undefined : `${id}: ${complaint}` }
  const line = passed
    ? `${id}: passes, but is listed as a deviation (${deviation.decision})`
    : `${id}: deviates (${deviation.decision}): ${deviation.reason}`
  return { passed, expected: !passed, line }
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
  const count = (passed: boolean, expected: boolean) =>
    judged.filter((outcome) => outcome.passed === passed && outcome.expected === expected).length
  return {
    passed: count(true, true),
    failed: count(true, false) + count(false, false),
    deviating: count(false, true),
    lines: judged.flatMap(({ line }) => line ?? []),
    asExpected: judged.every(({ expected }) => expected)
  }
}
