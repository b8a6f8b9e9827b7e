/**
 * Prints `N passed, N failed` for the last test run; fails when a test failed.
 *
 * @module
 */
import { join } from "node:path"
import { root } from "../house/workspace.ts"
import { readReport, tally, tallyLine } from "./tally.ts"

const counted = tally(readReport(join(root, "node_modules/.cache/vitest-report.json")))
process.stdout.write(`${tallyLine(counted)}\n`)
process.exitCode = counted.failed === 0 ? 0 : 1
