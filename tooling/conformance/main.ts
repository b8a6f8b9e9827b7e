/**
 * Runs conformance cases: `pnpm conformance <suite> <folder> [--only <id>] [--clock virtual|real]`.
 *
 * Prints one line for each case that fails, and the tally. A folder holds the cases of one suite, as its FORMAT.md says.
 * The exit code is 0 when nothing fails but the deviations that are listed.
 *
 * @module
 */
import { parseArgs } from "node:util"
import { reportChat } from "./chat/report.ts"
import { reportDispatch } from "./dispatch/report.ts"
import { otpSuite } from "./otp/otpSuite.ts"
import { runCases } from "./report.ts"
import { readCases } from "./suite.ts"
import type { ClockKind, Suite } from "./suite.ts"

const suites: Readonly<Record<string, Suite>> = { otp: otpSuite }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, clock: { type: "string", default: "virtual" } }
})
const [name = "", path] = positionals
const suite = suites[name]
const isClock = (kind: string): kind is ClockKind => kind === "virtual" || kind === "real"

const reports: Readonly<Record<string, typeof reportChat | typeof reportDispatch>> = {
  chat: reportChat,
  dispatch: reportDispatch
}
const reported = reports[name]

if (reported !== undefined && path !== undefined) {
  const report = await reported(path, { only: values.only })
  for (const line of report.lines) console.log(line)
  process.exitCode = report.asExpected ? 0 : 1
} else if (suite === undefined || path === undefined || !isClock(values.clock)) {
  const known = [...Object.keys(suites), ...Object.keys(reports)].join("|")
  console.error(`Usage: pnpm conformance ${known} <folder or file> [--only <id>] [--clock virtual|real]`)
  process.exitCode = 2
} else {
  const cases = readCases(path).filter(({ id }) => values.only === undefined || id.startsWith(values.only))
  const concurrency = values.clock === "real" ? 32 : 1
  const report = await runCases(name, suite, cases, { clock: values.clock, concurrency })
  for (const line of report.lines) console.log(line)
  console.log(`${report.deviating} deviate by decision; ${report.tally}`)
  console.log(`${report.passed} passed, ${report.failed} failed`)
  process.exitCode = report.asExpected ? 0 : 1
}
