/**
 * `pnpm typecheck`: the types of every package and its tests, and the Effect diagnostics, in one pass of the compiler.
 *
 * **Details**: one checker for each project, and two projects at a time. Several checkers of one project check the same types.
 *
 * @module
 */
import { execSync, spawnSync } from "node:child_process"
import { root } from "../house/workspace.ts"

const compiler = execSync("effect-tsgo get-exe-path", { encoding: "utf8" }).trim()
const args = ["-b", "--checkers", "1", "--builders", "2", ...process.argv.slice(2)]
process.exitCode = spawnSync(compiler, args, { cwd: root, stdio: "inherit" }).status ?? 1
