/**
 * A project outside of the workspace, with the packages installed by npm.
 *
 * @module
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "./program.ts"
import type { Tarball } from "./tarball.ts"

/** The versions of the packages that a project adds to the tarballs. */
export type Versions = Readonly<Record<string, string>>

/** How a type checker finds modules in the projects that are checked. */
export const resolutions = ["nodenext", "bundler"] as const

/** The programs of a consumer, which every project gets as `src`. */
const consumer = join(import.meta.dirname, "consumer")

/** Makes a folder with a manifest, the consumer's programs, and what npm installs. */
export const install = async (
  folder: string,
  tarballs: ReadonlyArray<Tarball>,
  versions: Versions,
  env: NodeJS.ProcessEnv
): Promise<ReadonlyArray<string>> => {
  mkdirSync(folder, { recursive: true })
  cpSync(consumer, join(folder, "src"), { recursive: true })
  const ours = Object.fromEntries(tarballs.map(({ name, version }) => [name, version]))
  writeJson(folder, "package.json", { name: "consumer", type: "module", dependencies: { ...ours, ...versions } })
  for (const resolution of resolutions) writeJson(folder, `tsconfig.${resolution}.json`, configOf(resolution))
  const installed = await run("npm", ["install"], folder, env)
  if (!installed.ok) return [installed.output]
  return doubled(folder, tarballs, versions)
}

/** A peer that is installed again below one of our packages would be a different package to the type checker. */
const doubled = (folder: string, tarballs: ReadonlyArray<Tarball>, versions: Versions): ReadonlyArray<string> =>
  tarballs.flatMap(({ name }) =>
    [...Object.keys(versions), ...tarballs.map((other) => other.name)]
      .filter((other) => existsSync(join(folder, "node_modules", name, "node_modules", other)))
      .map((other) => `${name} has a copy of ${other} of its own`)
  )

/** Compiles the consumer's programs. Declarations of other packages may have errors; those of our packages may not. */
export const typeCheck = async (folder: string, tsc: string, resolution: string): Promise<ReadonlyArray<string>> => {
  const checked = await run(tsc, ["-p", `tsconfig.${resolution}.json`, "--pretty", "false", "--checkers", "1"], folder)
  if (checked.ok) return []
  const errors = checked.output.split("\n").filter((line) => /error TS\d+/.test(line))
  if (errors.length === 0) return [checked.output]
  return errors.filter((line) => !line.startsWith("node_modules/") || line.startsWith("node_modules/@troupe/"))
}

/** A program that imports files one after another, and writes the problems of each to a report. */
const runner = `import { writeFileSync } from "node:fs"
const [, , report, ...files] = process.argv
const problems = {}
for (const file of files) {
  const failed = await import("./" + file).then(() => [], (error) => [String(error?.stack ?? error)])
  problems[file] = failed
  writeFileSync(report, JSON.stringify(problems))
}
`

/** Runs files of the project in one process. Returns the problems of a file; one that the process did not reach has its output. */
export const runFiles = async (folder: string, node: string, files: ReadonlyArray<string>) => {
  const report = join(folder, "report.json")
  writeFileSync(report, "{}")
  writeFileSync(join(folder, "run.js"), runner)
  const { ok, output } = await run(node, ["run.js", report, ...files], folder)
  const problems = JSON.parse(readFileSync(report, "utf8")) as Readonly<Record<string, ReadonlyArray<string>>>
  const isWhole = ok || files.some((file) => problems[file] === undefined)
  return (file: string): ReadonlyArray<string> => (isWhole ? problems[file] : undefined) ?? [output]
}

const configOf = (resolution: string): object => ({
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    module: resolution === "bundler" ? "esnext" : resolution,
    moduleResolution: resolution,
    strict: true,
    skipLibCheck: false,
    jsx: "react-jsx",
    types: ["node"],
    rootDir: "src",
    outDir: `out/${resolution}`
  },
  include: ["src"]
})

export const writeJson = (folder: string, name: string, content: object): void =>
  writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`)
