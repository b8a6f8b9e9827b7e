/**
 * The `prepack` script of every package: makes `dist` with its bundle from nothing, and fails unless every published export
 * is in it.
 *
 * **Details**: runs in the folder of the package. Without it a pack would contain files of deleted or renamed sources, or
 * no `dist` at all.
 *
 * @module
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync, rmSync } from "node:fs"
import type { Manifest } from "../house/workspace.ts"
import { bundle } from "./bundle.ts"
import { exportTargets } from "./exportTargets.ts"

rmSync("dist", { recursive: true, force: true })
execFileSync("tsc", ["-b", "--checkers", "1"], { stdio: "inherit" })

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest
const exported = manifest.publishConfig?.exports ?? {}
await bundle(process.cwd(), exported)

const required = ["README.md", ...exportTargets(exported)]
const missing = required.filter((path) => (path.includes("*") ? globSync(path).length === 0 : !existsSync(path)))
if (missing.length > 0) {
  process.stderr.write(`${manifest.name} cannot be packed: there is no ${missing.join(", no ")}\n`)
  process.exitCode = 1
}
