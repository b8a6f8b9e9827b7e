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
 * first export needs, the rest, and one file of names for each other export. An export whose modules the first export needs too
 * does not load the rest. An export that needs modules of other packages that the first export does not need is a file of its own:
 * who imports another one does not load them.
 *
 * @module
 */
import { build, type BuildOptions, transformSync } from "esbuild"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { plainFunctions } from "./plainFunctions.ts"

/** The folders of the separate modules and of their bundle. */
const separate = "./dist/"
const bundled = "./dist/bundled/"

/** The modules that export the names of the exports beside the first one: of those that need only its modules, and of the others. */
const gathered = ["firstExports", "otherExports"] as const

/** The targets of one export. */
type Targets = Readonly<Record<string, unknown>>

/** The names of an export, its separate module, and the modules that it loads: of the package, and of others. */
interface Door {
  readonly module: string
  readonly names: ReadonlyArray<string>
  readonly own: ReadonlySet<string>
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
  const importsOf = (path: string) =>
    (metafile.inputs[path]?.imports ?? []).filter(({ kind }) => kind === "import-statement")
  const loadedWith = (path: string, seen: Set<string> = new Set()): ReadonlySet<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    for (const one of importsOf(path)) if (one.external !== true) loadedWith(one.path, seen)
    return seen
  }
  return modules.map((module) => {
    const entry = module.slice(2)
    const output = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === entry)
    const own = loadedWith(entry)
    const foreign = [...own].flatMap((path) => importsOf(path).filter(({ external }) => external === true))
    return { module, names: output?.exports ?? [], own, foreign: new Set(foreign.map(({ path }) => path)) }
  })
}

/** A file that exports these names from a module. */
const namesFrom = (module: string, names: ReadonlyArray<string>): string =>
  `export { ${names.join(", ")} } from ${JSON.stringify(module)};\n`

/** Writes the file of an export, which has only names. */
const writeDoor = (folder: string, file: string, { module, names }: Door, index: number): void => {
  const path = join(folder, bundledPath(module))
  const up = "../".repeat(module.split("/").length - 3)
  const code = namesFrom(
    `${up === "" ? "./" : up}${file}.js`,
    names.map((name) => `${name}$${index} as ${name}`)
  )
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, code)
}

/** The code in fewer characters, which Node reads sooner. Names stay, and lines are short: a stack trace shows both. */
const compact = (code: string): string =>
  transformSync(code, { format: "esm", target: "esnext", minifySyntax: true, minifyWhitespace: true, lineLimit: 120 })
    .code

/** Bundles the modules in a package's `dist` that the exports with a `node` condition name (BUNDLE2). */
export const bundle = async (folder: string, exported: Readonly<Record<string, unknown>>): Promise<void> => {
  const modules = Object.values(exported)
    .map((targets) => Object(targets) as Targets)
    .filter(hasBundle)
    .map((targets) => String(targets["default"]))
  const [first, ...others] = await doorsOf(folder, modules)
  if (first === undefined) return
  const isWithFirst = ({ module, own }: Door): boolean =>
    [...own].every((path) => first.own.has(path) || path === module.slice(2))
  const placeOf = (door: Door): (typeof gathered)[number] | "alone" => {
    if ([...door.foreign].some((module) => !first.foreign.has(module))) return "alone"
    return isWithFirst(door) ? "firstExports" : "otherExports"
  }
  const places = Map.groupBy(others, placeOf)
  const files = gathered.filter((file) => places.has(file))
  const pathOf = (file: string): string => `${separate}${file}.js`
  for (const file of files) {
    const lines = (places.get(file) ?? []).map(({ module, names }, index) =>
      namesFrom(
        `./${module.slice(separate.length)}`,
        names.map((name) => `${name} as ${name}$${index}`)
      )
    )
    writeFileSync(join(folder, pathOf(file)), lines.join(""))
  }
  const alone = (places.get("alone") ?? []).map(({ module }) => module)
  const entryPoints = [first.module, ...files.map(pathOf), ...alone]
  const { outputFiles } = await build({ ...optionsFor(folder), entryPoints, write: false })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, compact(plainFunctions(text)))
  }
  for (const file of files) {
    rmSync(join(folder, pathOf(file)))
    for (const [index, door] of (places.get(file) ?? []).entries()) writeDoor(folder, file, door, index)
  }
}
