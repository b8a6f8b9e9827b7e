/**
 * Runs conformance cases: `pnpm conformance <suite> <folder> [--only <id>] [--clock virtual|real]`.
 *
 * Prints one line for each case that fails or deviates, and the tally. A folder holds the cases of one suite, as its
 * FORMAT.md says. The exit code is 0 when nothing fails but the deviations that are listed.
 *
 * @module
 */
import { parseArgs } from "node:util"
import { deviations } from "./runner/deviating.ts"
import { reportOf, runCases } from "./runner/runSuite.ts"
import { readCases } from "./runner/suite.ts"
import { suites } from "./suites.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, clock: { type: "string", default: "virtual" } }
})
const [name = "", path] = positionals
const suite = suites.get(name)
const { only, clock } = values

if (suite === undefined || path === undefined || (clock !== "virtual" && clock !== "real")) {
  const known = [...suites.keys()].join("|")
  console.error(`Usage: pnpm conformance ${known} <folder or file> [--only <id>] [--clock virtual|real]`)
  process.exitCode = 2
} else {
  const cases = readCases(suite, path).filter(({ id }) => id.includes(only))
  const concurrency = clock === "real" ? suite.concurrency : 1
  const report = reportOf(await runCases(cases, deviations, { clock, concurrency }), name === "practice")
  for (const line of report.lines) console.log(line)
  process.exitCode = report.asExpected ? 0 : 1
}
