/**
 * The packages as they are published: packs them, and checks each tarball.
 *
 * @module
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { exactPeers, oursOf } from "../house/importTable.ts"
import { root } from "../house/workspace.ts"
import type { Manifest } from "../house/workspace.ts"
import { exportTargets } from "./exportTargets.ts"
import { run } from "./program.ts"

/** A packed package: its name and version, its tarball, and the folder with the unpacked content. */
export interface Tarball {
  readonly name: string
  readonly version: string
  readonly path: string
  readonly content: string
}

/** What pnpm reports about a packed package. */
interface Packed {
  readonly name: string
  readonly version: string
  readonly filename: string
}

const packing =
  "--yes pnpm@12 --config.verify-deps-before-run=false --recursive --filter ./packages/* pack --json".split(" ")

/** Builds and packs every public package into a folder, as `pnpm publish` does, and unpacks each. Dependencies come first. */
export const packAll = async (folder: string): Promise<ReadonlyArray<Tarball>> => {
  const packed = await run("npx", [...packing, "--pack-destination", folder], root)
  if (!packed.ok) throw new Error(`The packages are not packed: ${packed.output}`)
  const report = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("[\n"))) as ReadonlyArray<Packed>
  return report.map(({ name, version, filename }) => {
    const unpacked = join(folder, "unpacked", name)
    mkdirSync(unpacked, { recursive: true })
    execFileSync("tar", ["-xzf", filename, "-C", unpacked])
    return { name, version, path: filename, content: join(unpacked, "package") }
  })
}

/** The manifest that is published. */
export const manifestOf = (tarball: Tarball): Manifest =>
  JSON.parse(readFileSync(join(tarball.content, "package.json"), "utf8")) as Manifest

/** The missing and the unexpected files of a tarball. */
export const contentProblems = (tarball: Tarball): ReadonlyArray<string> => {
  const files = globSync("**/*.*", { cwd: tarball.content })
  const expected = ["README.md", "LICENSE", ...exportTargets(manifestOf(tarball).exports)]
  const absent = expected.filter((path) => !path.includes("*") && !existsSync(join(tarball.content, path)))
  const forbidden = files.filter((path) => /\.(tsbuildinfo|map)$|^(src|test|node_modules)\//.test(path))
  const mapped = files.filter((path) => /\.(js|d\.ts)$/.test(path) && hasMap(join(tarball.content, path)))
  const exact = exactPeers[oursOf(tarball.name) ?? ""] ?? []
  const { dependencies, peerDependencies } = manifestOf(tarball)
  const unranged = Object.entries({ ...dependencies, ...peerDependencies }).filter(
    ([name, range]) => !range.startsWith("^") && !exact.includes(name)
  )
  return [
    ...absent.map((path) => `${path} is missing`),
    ...forbidden.map((path) => `${path} does not belong there`),
    ...mapped.map((path) => `${path} names a source map, which is not packed`),
    ...unranged.map(([name, range]) => `${name} ${range} is no range`)
  ]
}

const hasMap = (path: string): boolean => readFileSync(path, "utf8").includes("//# sourceMappingURL=")

/** The problems that `publint` finds in a tarball's content. */
export const publintProblems = async (tarball: Tarball): Promise<ReadonlyArray<string>> => {
  const { messages, pkg } = await publint({ pkgDir: tarball.content, pack: false, level: "suggestion", strict: true })
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

/** The problems that `attw` finds in a tarball for ES modules: `require`, the resolution of Node 10 and styles are ignored. */
export const attwProblems = async (tarball: Tarball): Promise<ReadonlyArray<string>> => {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball.path)))
  if (analysis.types === false) return ["no types were found"]
  return analysis.problems
    .filter((problem) => !("resolutionKind" in problem && /^(node10|node16-cjs)$/.test(problem.resolutionKind)))
    .filter((problem) => !("entrypoint" in problem && problem.entrypoint.endsWith(".css")))
    .map((problem) => JSON.stringify(problem))
}
