/**
 * The compiler of the house: TypeScript with the Effect diagnostics.
 *
 * **Details**: everything is built with this one, since another compiler builds again what this one has built. One checker for
 * each project, and two projects at a time: several checkers of one project check the same types.
 *
 * @module
 */
import { execFileSync, spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./workspace.ts"

/** Builds the projects of a folder that are not up to date; returns the exit status. */
export const compile = (folder: string, projects: ReadonlyArray<string>): number => {
  const tool = join(root, "node_modules/.bin/effect-tsgo")
  const compiler = execFileSync(tool, ["get-exe-path"], { cwd: root, encoding: "utf8" }).trim()
  const args = ["-b", "--checkers", "1", "--builders", "2", ...projects]
  return spawnSync(compiler, args, { cwd: folder, stdio: "inherit" }).status ?? 1
}
