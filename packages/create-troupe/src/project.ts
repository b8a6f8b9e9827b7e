/**
 * Writes a project: joins the folders of `templates` that the choices name.
 *
 * **Details**: a file is taken from the first folder that has it. The `README.md` of a project has the text of each folder in
 * turn. Its `package.json` has the fields of each folder. A dependency there is `"^"`, a range above the version that this
 * package was tested with, or `"="`, exactly that version. `devDependencies` of this package has the versions.
 *
 * - CREATE1. A project is written only into a new or an empty folder, and no file of the user is changed.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { type Choices, layersOf } from "./choices.ts"
import { CreateError } from "./CreateError.ts"

const templates = join(import.meta.dirname, "../templates")

/** The fields of a manifest that the folders of `templates` may have. */
interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The names of files that npm would not publish under their own name. */
const renamed: Readonly<Record<string, string>> = { gitignore: ".gitignore" }

/** The files of one folder of `templates`, by their paths in the project. */
const filesOf = (layer: string): ReadonlyArray<readonly [path: string, text: string]> =>
  readdirSync(join(templates, layer), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const inLayer = path.slice(join(templates, layer).length + 1).replaceAll("\\", "/")
      return [renamed[inLayer] ?? inLayer, readFileSync(path, "utf8")]
    })

const readManifest = (text: string): Manifest => JSON.parse(text) as Manifest

/** The versions that the templates were tested with. */
const tested = readManifest(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")).devDependencies ?? {}

/** The range of a dependency. In a checkout of the repository, the references to its workspace and its catalog stay. */
const rangeOf = (name: string, kind: string): string => {
  const version = tested[name] ?? ""
  return kind === "^" && /^\d/.test(version) ? `^${version}` : version
}

const withRanges = (dependencies: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(dependencies)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, kind]) => [name, rangeOf(name, kind)])
  )

/** The manifest of a project, from those of its folders. A field of an earlier one takes precedence. */
const joinedManifest = (name: string, texts: ReadonlyArray<string>): string => {
  const joined = texts.map(readManifest).reduceRight((rest, first) => ({
    ...rest,
    ...first,
    scripts: { ...rest.scripts, ...first.scripts },
    dependencies: { ...rest.dependencies, ...first.dependencies },
    devDependencies: { ...rest.devDependencies, ...first.devDependencies }
  }))
  const { scripts, dependencies = {}, devDependencies, ...fields } = joined
  const manifest = {
    // A package manager does not install a package into a project of the same name.
    name: name in dependencies ? `${name}-app` : name,
    ...fields,
    scripts,
    dependencies: withRanges(dependencies),
    devDependencies: withRanges(devDependencies)
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** The files of a project, by their paths. */
export const projectFiles = (name: string, choices: Choices): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  const found = Object.groupBy(layersOf(choices).flatMap(filesOf), ([path]) => path)
  for (const [path, versions = []] of Object.entries(found)) {
    const texts = versions.map(([, text]) => text)
    if (path === "package.json") files.set(path, joinedManifest(name, texts))
    else if (path === "README.md") files.set(path, texts.join("\n").replaceAll("npm run", `${choices.manager} run`))
    else files.set(path, texts[0] ?? "")
  }
  return files
}

/** The name of the package in a folder. */
const nameOf = (folder: string): string => {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "")
  if (name !== "") return name
  throw new CreateError("invalid_folder", `"${basename(folder)}" gives no name for a package: use letters and digits.`)
}

/** Refuses a folder with files (CREATE1). A repository without files is empty. */
const checkFolder = (folder: string): void => {
  let found: ReadonlyArray<string>
  try {
    found = readdirSync(folder).filter((name) => name !== ".git")
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return
    if (code === "ENOTDIR")
      throw new CreateError("folder_not_empty", `${folder}, or a part of this path, is a file: name another folder.`)
    throw new CreateError("not_written", `${folder} cannot be read: ${message}`, { cause: error })
  }
  if (found.length === 0) return
  throw new CreateError("folder_not_empty", `${folder} has files already: name a new folder, or empty this one first.`)
}

/**
 * Writes a project into a folder, and returns the folder's whole path.
 *
 * **Errors**: throws a `CreateError`: `invalid_folder`, `folder_not_empty` or `not_written`.
 */
export const writeProject = (path: string, choices: Choices): string => {
  const folder = resolve(path)
  const files = projectFiles(nameOf(folder), choices)
  checkFolder(folder)
  try {
    for (const [file, text] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text, { flag: "wx" })
    }
  } catch (error) {
    throw new CreateError("not_written", `${folder} cannot be written: ${String(error)}`, { cause: error })
  }
  return folder
}
