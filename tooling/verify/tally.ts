/**
 * Counts what the test runner's JSON report says.
 *
 * **Details**: a test that did not pass has failed, whatever the reason; a file that could not be collected, and a run
 * that ended without a report, count as one failure each. So zero failures means that everything ran and passed.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"

/** How many passed and how many failed. */
export interface Tally {
  readonly passed: number
  readonly failed: number
}

/** The parts of the report that are counted. */
export interface TestReport {
  readonly success: boolean
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{ readonly status: string; readonly assertionResults: ReadonlyArray<unknown> }>
}

/** Counts a report; an absent one is one failure. */
export const tally = (report: TestReport | undefined): Tally => {
  if (report === undefined) return { passed: 0, failed: 1 }
  const uncollected = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0
  )
  const failed = report.numTotalTests - report.numPassedTests + uncollected.length
  return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed }
}

/** Reads a report from disk, or nothing when the run left none. */
export const readReport = (path: string): TestReport | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as TestReport) : undefined

/** The line a run ends with. */
export const tallyLine = (found: Tally): string => `${found.passed} passed, ${found.failed} failed`
