/**
 * The built packages in a folder outside of the workspace, with the peers of the workspace.
 *
 * A process that runs there imports `@troupe/chat` as a consumer of the published package does.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root, workspacePackages } from "../house/workspace.ts"
import { pack, tarballOf } from "../packed/tarball.ts"
import { chatImport, peerImports } from "./work/imports.ts"

const ours = ["otp", "chat"]
const peers = ["effect", "xstate", "zod"]

/** The packages of others that ours import at run time. */
const linked = [...peers, "@standard-schema/spec", "@effect/sql-pg"]

/** The packages of a node. */
const ofNodes = [...ours, "store", "server", "cluster"]

/** The modules of the peers that the built files of a package import. */
const peerModules = (folder: string): ReadonlyArray<string> =>
  globSync("**/*.js", { cwd: folder })
    .flatMap((path) => [
      ...readFileSync(join(folder, path), "utf8").matchAll(/^(?:import|export) .*from "([^"]+)";$/gm)
    ])
    .map(([, specifier = ""]) => specifier)
    .filter((specifier) => peers.includes(specifier.split("/", 1).join("")))

/** A module that imports other modules for nothing but their cost. */
const imports = (specifiers: Iterable<string>): string =>
  [...specifiers].map((specifier) => `import ${JSON.stringify(specifier)}\n`).join("")

/** A folder with the built packages. */
export interface Built {
  readonly folder: string
  readonly remove: () => void
}

/** Packs packages into the folder, with links to the packages that these import. */
const fill = async (folder: string, packages: ReadonlyArray<string>): Promise<void> => {
  const modules = join(folder, "node_modules")
  mkdirSync(join(modules, "@troupe"), { recursive: true })
  for (const found of workspacePackages().filter(({ short }) => packages.includes(short))) {
    const tarball = tarballOf(found, folder)
    const problems = await pack(found, tarball)
    if (problems.length > 0) throw new Error(problems.join("\n"))
    renameSync(tarball.content, join(modules, found.manifest.name))
    const installed = join(root, found.folder, "node_modules")
    for (const name of linked.filter((one) => existsSync(join(installed, one)) && !existsSync(join(modules, one)))) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(installed, name), join(modules, name))
    }
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "module" })}\n`)
}

/** Writes the modules that import the built packages of chats, and their peers. */
const writeImports = (folder: string): void => {
  const modules = join(folder, "node_modules")
  const imported = new Set(ours.flatMap((short) => peerModules(join(modules, "@troupe", short, "dist"))).toSorted())
  writeFileSync(join(folder, peerImports), imports(imported))
  writeFileSync(join(folder, chatImport), imports(["@troupe/chat"]))
}

const unpack = async (fillIn: (folder: string) => Promise<void>): Promise<Built> => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "troupe-bench-"))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    await fillIn(folder)
  } catch (error) {
    remove()
    throw error
  }
  return { folder, remove }
}

/** Packs the packages of chats into a new folder; `remove` deletes the folder. */
export const unpackBuilt = (): Promise<Built> =>
  unpack(async (folder) => {
    await fill(folder, ours)
    writeImports(folder)
  })

/** Packs the packages of a node into a new folder, beside a program. */
export const unpackNode = (program: URL, files: ReadonlyArray<string>): Promise<Built> =>
  unpack(async (folder) => {
    await fill(folder, ofNodes)
    for (const file of files) copyFileSync(new URL(file, program), join(folder, file))
  })
