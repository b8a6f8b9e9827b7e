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
 * @module
 */
import { build } from "esbuild"

/** The folders of the separate modules and of their bundle. */
const separate = "./dist/"
const bundled = "./dist/bundled/"

/** The targets of one export. */
type Targets = Readonly<Record<string, unknown>>

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

/** Bundles the modules in a package's `dist` that the exports with a `node` condition name (BUNDLE2). */
export const bundle = async (folder: string, exported: Readonly<Record<string, unknown>>): Promise<void> => {
  const entryPoints = Object.values(exported)
    .map((targets) => Object(targets) as Targets)
    .filter(hasBundle)
    .map((targets) => String(targets["default"]))
  if (entryPoints.length === 0) return
  await build({
    absWorkingDir: folder,
    entryPoints,
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
  })
}
