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
 * first export needs, the rest, and one file of names for each other export. An export that needs modules of other packages that
 * the first export does not need is a file of its own: who imports another one does not load them.
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

/** The names of an export, its separate module, and the modules of other packages that it loads. */
interface Door {
  readonly module: string
  readonly names: ReadonlyArray<string>
  readonly foreign: ReadonlySet<string>
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
    legalComments: "none",
    logLevel: "warning"
  }) satisfies BuildOptions

/** What each of these modules exports and loads. */
const doorsOf = async (folder: string, modules: Array<string>): Promise<ReadonlyArray<Door>> => {
  const { metafile } = await build({ ...optionsFor(folder), entryPoints: modules, write: false, metafile: true })
  const foreignOf = (path: string, seen: Set<string>): ReadonlyArray<string> => {
    if (seen.has(path)) return []
    seen.add(path)
    return (metafile.outputs[path]?.imports ?? [])
      .filter(({ kind }) => kind === "import-statement")
      .flatMap((one) => (one.external === true ? [one.path] : foreignOf(one.path, seen)))
  }
  const found = Object.entries(metafile.outputs).map(([path, output]) => [output.entryPoint, path, output] as const)
  return modules.map((module) => {
    const [, path = "", output] = found.find(([entry]) => entry === module.slice(2)) ?? []
    return { module, names: output?.exports ?? [], foreign: new Set(foreignOf(path, new Set())) }
  })
}

/** A file that exports these names from a module. */
const namesFrom = (module: string, names: ReadonlyArray<string>): string =>
  `export { ${names.join(", ")} } from ${JSON.stringify(module)};\n`

/** Writes the file of an export, which has only names. */
const writeDoor = (folder: string, { module, names }: Door, index: number): void => {
  const path = join(folder, bundledPath(module))
  const up = "../".repeat(module.split("/").length - 3)
  const code = namesFrom(
    `${up === "" ? "./" : up}otherExports.js`,
    names.map((name) => `${name}$${index} as ${name}`)
  )
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, code)
}

/** Bundles the modules in a package's `dist` that the exports with a `node` condition name (BUNDLE2). */
export const bundle = async (folder: string, exported: Readonly<Record<string, unknown>>): Promise<void> => {
  const modules = Object.values(exported)
    .map((targets) => Object(targets) as Targets)
    .filter(hasBundle)
    .map((targets) => String(targets["default"]))
  const [first, ...others] = await doorsOf(folder, modules)
  if (first === undefined) return
  const isAlone = ({ foreign }: Door): boolean => [...foreign].some((module) => !first.foreign.has(module))
  const alone = others.filter(isAlone).map(({ module }) => module)
  const doors = others.filter((door) => !isAlone(door))
  const lines = doors.map(({ module, names }, index) =>
    namesFrom(
      `./${module.slice(separate.length)}`,
      names.map((name) => `${name} as ${name}$${index}`)
    )
  )
  writeFileSync(join(folder, otherExports), lines.join(""))
  await build({ ...optionsFor(folder), entryPoints: [first.module, otherExports, ...alone] })
  rmSync(join(folder, otherExports))
  doors.forEach((door, index) => writeDoor(folder, door, index))
}
