/**
 * The bundled form of a package, for Node.
 *
 * Node loads each module separately, so hundreds of small modules make an import slow. The `node` condition of an export
 * therefore leads to a bundle in `dist/bundled`. Bundlers for browsers use the `default` condition: the separate modules,
 * of which they drop the unused ones.
 *
 * BUNDLE1. Every export of a package has the `node` condition, or none has. If one export led Node to a separate module,
 * the process would have a second instance of that module.
 *
 * BUNDLE2. A module that several exports need is in one chunk, which all of them import.
 *
 * Each file of a bundle resolves its imports of other packages again, so a bundle has few files: the modules that the
 * first export needs, the rest, and one file of names for each other export.
 *
 * @module
 */
import { build, type BuildOptions } from "esbuild"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The folders of the separate modules and of their bundle. */
const separate = "./dist/"
const bundled = "./dist/bundled/"

/** The module that exports the names of all exports but the first one. */
const otherExports = `${separate}otherExports.js`

/** The targets of one export. */
type Targets = Readonly<Record<string, unknown>>

/** The names of an export, and its separate module. */
interface Door {
  readonly module: string
  readonly names: ReadonlyArray<string>
}

/** The path of the bundle that belongs to a module of `dist`. */
const bundledPath = (module: unknown): string => `${bundled}${String(module).slice(separate.length)}`

const hasBundle = (targets: Targets): boolean => "node" in targets

/** The problems of the `node` conditions in the published exports of a package (BUNDLE1). */
export const conditionProblems = (exported: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const all = Object.entries(exported).map(([name, targets]) => [name, Object(targets) as Targets] as const)
  if (!all.some(([, targets]) => hasBundle(targets))) return []
  return all.flatMap(([name, targets]) => {
    const expected = { types: targets["types"], node: bundledPath(targets["default"]), default: targets["default"] }
    return JSON.stringify(targets) === JSON.stringify(expected) ? [] : [`${name} must have ${JSON.stringify(expected)}`]
  })
}

const optionsFor = (folder: string) =>
  ({
    absWorkingDir: folder,
    outbase: separate,
    outdir: bundled,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "esnext",
    packages: "external",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning"
  }) satisfies BuildOptions

/** The names that each of these modules exports. */
const doorsOf = async (folder: string, modules: Array<string>): Promise<ReadonlyArray<Door>> => {
  const { metafile } = await build({ ...optionsFor(folder), entryPoints: modules, write: false, metafile: true })
  const names = new Map(Object.values(metafile.outputs).map((output) => [output.entryPoint, output.exports]))
  return modules.map((module) => ({ module, names: names.get(module.slice(2)) ?? [] }))
}

/** A file that exports these names from a module. */
const namesFrom = (module: string, names: ReadonlyArray<string>): string =>
  `export { ${names.join(", ")} } from ${JSON.stringify(module)};\n`

/** Writes the file of an export, which has only names, with an empty source map. */
const writeDoor = (folder: string, { module, names }: Door, index: number): void => {
  const path = join(folder, bundledPath(module))
  const up = "../".repeat(module.split("/").length - 3)
  const map = `${module.split("/").at(-1)}.map`
  const code = namesFrom(
    `${up === "" ? "./" : up}otherExports.js`,
    names.map((name) => `${name}$${index} as ${name}`)
  )
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${code}//# sourceMappingURL=${map}\n`)
  writeFileSync(`${path}.map`, JSON.stringify({ version: 3, sources: [], names: [], mappings: "" }))
}

/** Bundles the modules in a package's `dist` that the exports with a `node` condition name (BUNDLE2). */
export const bundle = async (folder: string, exported: Readonly<Record<string, unknown>>): Promise<void> => {
  const [first, ...others] = Object.values(exported)
    .map((targets) => Object(targets) as Targets)
    .filter(hasBundle)
    .map((targets) => String(targets["default"]))
  if (first === undefined) return
  const doors = await doorsOf(folder, others)
  const lines = doors.map(({ module, names }, index) =>
    namesFrom(
      `./${module.slice(separate.length)}`,
      names.map((name) => `${name} as ${name}$${index}`)
    )
  )
  writeFileSync(join(folder, otherExports), lines.join(""))
  await build({ ...optionsFor(folder), entryPoints: [first, otherExports] })
  rmSync(join(folder, otherExports))
  doors.forEach((door, index) => writeDoor(folder, door, index))
}
