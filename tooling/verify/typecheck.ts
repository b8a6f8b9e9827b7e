/**
 * `pnpm typecheck`: the types of every package and its tests, and the Effect diagnostics. In the folder of a package: those of
 * its projects only.
 *
 * @module
 */
import { compile } from "../house/compiler.ts"

process.exitCode = compile(process.cwd(), process.argv.slice(2))
