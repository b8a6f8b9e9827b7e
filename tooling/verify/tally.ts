/**
 * Counts the results in the test runner's JSON report.
 *
 * **Details**: every test that did not pass counts as failed. The one exception is a browser test on a machine without a
 * browser: it is counted as not run. A file that could not be collected, and a run that ended without a report, count as one
 * failure each.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"

/** How many passed, how many failed, and how many browser tests did not run. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly notRun: number
}

/** The parts of the report that are counted. */
export interface TestReport {
  readonly success: boolean
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

const isBrowserFile = (name: string): boolean => name.replaceAll("\\", "/").includes("/test/browser/")
const isSkipped = ({ status }: { readonly status: string }): boolean => status === "skipped" || status === "pending"

/** Counts a report; an absent one is one failure. */
export const tally = (report: TestReport | undefined): Tally => {
  if (report === undefined) return { passed: 0, failed: 1, notRun: 0 }
  const uncollected = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0
  )
  // Without a browser all tests of a file are skipped: one skipped test beside others that ran is a failure.
  const notRun = report.testResults
    .filter(({ name, assertionResults }) => isBrowserFile(name) && assertionResults.every(isSkipped))
    .reduce((sum, { assertionResults }) => sum + assertionResults.length, 0)
  const failed = report.numTotalTests - report.numPassedTests - notRun + uncollected.length
  return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed, notRun }
}

/** Reads a report from disk; `undefined` when the run left none. */
export const readReport = (path: string): TestReport | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as TestReport) : undefined

/**
 * Counts the output of a check that ends with a tally line.
 *
 * **Details**: an output without a tally line counts as one failure, and so does a check that failed and counted none.
 */
export const tallyOf = (output: string, ok: boolean): Tally => {
  const line = output.split("\n").findLast((one) => tallyPattern.test(one)) ?? ""
  const [, passed, failed] = tallyPattern.exec(line) ?? []
  const counted = { passed: Number(passed ?? 0), failed: Number(failed ?? 0), notRun: 0 }
  const isBroken = passed === undefined || (!ok && counted.failed === 0)
  return isBroken ? { ...counted, failed: counted.failed + 1 } : counted
}

const tallyPattern = /^(\d+) passed, (\d+) failed$/

/** The last line of a run. */
export const tallyLine = ({ passed, failed, notRun }: Tally): string =>
  `${passed} passed, ${failed} failed${notRun === 0 ? "" : `, ${notRun} skipped`}`
