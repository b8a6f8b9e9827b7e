/**
 * `pnpm verify`: the checks that read sources, then the tests; `pnpm verify:full` adds the slow checks. The last line is
 * `N passed, N failed`.
 *
 * **Details**: a failing check is printed in full and counts as one failure beside the tests'; the others still run.
 *
 * @module
 */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { root } from "../house/workspace.ts"
import { runCheck, slowChecks, staticLanes, testCheck } from "./checks.ts"
import type { Check, CheckResult } from "./checks.ts"
import { readReport, tally, tallyLine, tallyOf } from "./tally.ts"

const reportPath = join(root, "node_modules/.cache/vitest-report.json")

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const report = (result: CheckResult): void => {
  say(`${result.ok ? "ok    " : "FAILED"} ${result.name} (${result.seconds.toFixed(1)} s)`)
  if (!result.ok) say(result.output)
}

const runLane = async (lane: ReadonlyArray<Check>): Promise<ReadonlyArray<CheckResult>> => {
  const results: Array<CheckResult> = []
  for (const check of lane) {
    const result = await runCheck(check, false)
    report(result)
    results.push(result)
  }
  return results
}

rmSync(reportPath, { force: true })
const results = (await Promise.all(staticLanes.map(runLane))).flat()
const tested = await runCheck(testCheck, true)

const counted = tally(readReport(reportPath))
const failedChecks = results.filter((result) => !result.ok)
let passed = counted.passed
let failed = failedChecks.length + (counted.failed === 0 && !tested.ok ? 1 : counted.failed)
for (const check of process.argv.includes("--full") ? slowChecks : []) {
  const result = await runCheck(check, true)
  const found = tallyOf(result.output, result.ok)
  passed += found.passed
  failed += found.failed
}
if (failedChecks.length > 0) say(`failed checks: ${failedChecks.map((result) => result.name).join(", ")}`)
say(tallyLine({ passed, failed, notRun: counted.notRun }))
process.exitCode = failed === 0 ? 0 : 1
