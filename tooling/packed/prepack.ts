/**
 * The `prepack` script of every package: makes `dist` with its bundle, and fails unless every published export is in it.
 *
 * **Details**: runs in the folder of the package. Without it a pack would contain files of deleted or renamed sources, or
 * no `dist` at all. What `pnpm typecheck` has built is not built again. The declarations keep their comments, for editors; the
 * modules lose them. There are no source maps: names and lines of the modules are those of the sources without their types.
 *
 * @module
 */
import { build } from "esbuild"
import { copyFileSync, existsSync, globSync, readFileSync, rmSync } from "node:fs"
import { compile } from "../house/compiler.ts"
import type { Manifest } from "../house/workspace.ts"
import { bundle } from "./bundle.ts"
import { exportTargets } from "./exportTargets.ts"

/** Whether no source has this output. */
const isStale = (output: string): boolean => {
  const source = output.replace(/^dist/, "src").replace(/(\.d)?\.(js|ts)$/, "")
  return output.endsWith(".map") || (!existsSync(`${source}.ts`) && !existsSync(`${source}.tsx`))
}

const status = compile(process.cwd(), ["."])
if (status !== 0) process.exit(status)
rmSync("dist/bundled", { recursive: true, force: true })
for (const output of globSync("dist/**/*.{js,ts,map}").filter(isStale)) rmSync(output)

await build({
  entryPoints: globSync("dist/**/*.js"),
  outbase: "dist",
  outdir: "dist",
  allowOverwrite: true,
  target: "esnext",
  legalComments: "none",
  logLevel: "warning"
})

for (const style of globSync("src/**/*.css")) copyFileSync(style, style.replace(/^src/, "dist"))

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest
const exported = manifest.publishConfig?.exports ?? {}
await bundle(process.cwd(), exported)

const required = ["README.md", ...exportTargets(exported)]
const missing = required.filter((path) => (path.includes("*") ? globSync(path).length === 0 : !existsSync(path)))
if (missing.length > 0) {
  process.stderr.write(`${manifest.name} cannot be packed: there is no ${missing.join(", no ")}\n`)
  process.exitCode = 1
}
