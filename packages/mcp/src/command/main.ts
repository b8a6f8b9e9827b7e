#!/usr/bin/env node
/**
 * `npx troupe mcp <module>`.
 *
 * @module
 */
import { CommandError } from "./CommandError.ts"
import { runCommand } from "./program.ts"

try {
  await runCommand(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  process.stderr.write(`troupe: ${error.message}\n`)
  process.exitCode = 1
}
