/**
 * The workspace on disk: its packages, their manifests and their files.
 *
 * @module
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"

/** The parts of a manifest that the house rules use. */
export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly keywords?: ReadonlyArray<string>
  readonly homepage?: string
  readonly bugs?: { readonly url: string }
  readonly repository?: { readonly type: string; readonly url: string; readonly directory: string }
  readonly engines?: { readonly node?: string }
  readonly files?: ReadonlyArray<string>
  readonly exports?: Readonly<Record<string, unknown>>
  readonly publishConfig?: {
    readonly access?: string
    readonly provenance?: boolean
    readonly exports?: Readonly<Record<string, unknown>>
  }
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** One workspace package. */
export interface WorkspacePackage {
  /** Its folder, from the root, such as `packages/otp`. */
  readonly folder: string
  /** The last part of its folder: `otp`. */
  readonly short: string
  readonly kind: "library" | "app" | "tooling"
  readonly manifest: Manifest
}

/** The workspace's root folder. */
export const root = join(import.meta.dirname, "../..")

/** Where programs keep what they compile, so that the next start of the same sources is fast: `NODE_COMPILE_CACHE`. */
export const compileCache = join(root, "node_modules/.cache/node")

/** Reads one text file by its path from the root. */
export const readText = (path: string): string => readFileSync(join(root, path), "utf8")

/** Whether a path from the root exists. */
export const exists = (path: string): boolean => existsSync(join(root, path))

/** Paths from the root that match a glob, sorted; never inside `node_modules` or `dist`. */
export const files = (...patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  globSync([...patterns], { cwd: root, exclude: (name) => name === "node_modules" || name === "dist" })
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .toSorted()

/** Every workspace package: libraries, then apps, then the tooling. */
export const workspacePackages = (): ReadonlyArray<WorkspacePackage> =>
  files("packages/*/package.json", "apps/*/package.json", "tooling/package.json").map((path) => {
    const folder = path.slice(0, -"/package.json".length)
    const kind = folder.startsWith("packages/") ? "library" : folder.startsWith("apps/") ? "app" : "tooling"
    return { folder, short: basename(folder), kind, manifest: readJson<Manifest>(path) }
  })

/** The names of the packages that a manifest needs at run time. */
export const dependencyNames = (manifest: Manifest): ReadonlyArray<string> =>
  [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})].toSorted()

/** Reads one JSON file by its path from the root; the caller gives its type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the shape of its own file
export const readJson = <Shape>(path: string): Shape => JSON.parse(readText(path)) as Shape
