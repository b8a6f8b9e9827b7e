/**
 * `pnpm typecheck`: the types of every package, its tests and all examples, and the Effect diagnostics. In the folder of a package:
 * those of its projects only.
 *
 * @module
 */
import { writeExampleProject } from "../doctest/exampleProject.ts"
import { compile } from "../house/compiler.ts"
import { root } from "../house/workspace.ts"

const projects = process.argv.slice(2)
const status = compile(process.cwd(), projects)
const isWhole = process.cwd() === root && projects.length === 0
process.exitCode = status === 0 && isWhole ? compile(writeExampleProject(), []) : status
