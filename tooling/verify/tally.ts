/**
 * Counts what passed and what failed.
 *
 * **Details**: every test that did not pass counts as failed. The one exception is a browser test on a machine without a
 * browser: it is counted as skipped. A file that could not be collected counts as one failure.
 *
 * @module
 */

/** How many passed, how many failed, and how many browser tests did not run. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly notRun: number
}

/** One test file of a run: its path, whether the runner collected it, and the state of each of its tests. */
export interface RunFile {
  readonly name: string
  readonly collected: boolean
  readonly states: ReadonlyArray<string>
}

const isBrowserFile = (name: string): boolean => name.replaceAll("\\", "/").includes("/test/browser/")

const countOf = (states: ReadonlyArray<string>, state: string): number => states.filter((one) => one === state).length

/** Counts a run. A run without files, and a failure outside of the tests (`isClean`), are one failure each. */
export const tally = (files: ReadonlyArray<RunFile>, isClean: boolean): Tally => {
  // Without a browser all tests of a file are skipped: one skipped test beside others that ran is a failure.
  const notRun = files
    .filter(({ name, states }) => isBrowserFile(name) && countOf(states, "skipped") === states.length)
    .reduce((sum, { states }) => sum + states.length, 0)
  const passed = files.reduce((sum, { states }) => sum + countOf(states, "passed"), 0)
  const all = files.reduce((sum, { states }) => sum + states.length, 0)
  const failed = all - passed - notRun + files.filter(({ collected }) => !collected).length
  return { passed, failed: failed === 0 && (!isClean || files.length === 0) ? 1 : failed, notRun }
}

/**
 * Counts the output of a check that ends with a tally line.
 *
 * **Details**: an output without a tally line counts as one failure, and so does a check that failed and counted none.
 */
export const tallyOf = (output: string, ok: boolean): Tally => {
  const line = output.split("\n").findLast((one) => tallyPattern.test(one)) ?? ""
  const [, passed, failed, notRun] = tallyPattern.exec(line) ?? []
  const counted = { passed: Number(passed ?? 0), failed: Number(failed ?? 0), notRun: Number(notRun ?? 0) }
  const isBroken = passed === undefined || (!ok && counted.failed === 0)
  return isBroken ? { ...counted, failed: counted.failed + 1 } : counted
}

const tallyPattern = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/

/** Adds tallies. */
export const sumOf = (tallies: ReadonlyArray<Tally>): Tally =>
  tallies.reduce(
    (sum, { passed, failed, notRun }) => ({
      passed: sum.passed + passed,
      failed: sum.failed + failed,
      notRun: sum.notRun + notRun
    }),
    { passed: 0, failed: 0, notRun: 0 }
  )

/** The last line of a run. */
export const tallyLine = ({ passed, failed, notRun }: Tally): string =>
  `${passed} passed, ${failed} failed${notRun === 0 ? "" : `, ${notRun} skipped`}`
