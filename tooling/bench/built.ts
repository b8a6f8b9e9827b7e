/**
 * The built packages in a folder outside of the workspace, with the peers of the workspace.
 *
 * A process that runs there imports `@troupe/chat` as a consumer of the published package does.
 */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { oursOf } from "../house/importTable.ts"
import { dependencyNames, root, workspacePackages } from "../house/workspace.ts"
import { pack, tarballOf } from "../packed/tarball.ts"
import { chatImport, peerImports } from "./work/imports.ts"

const ours = ["otp", "chat"]
const peers = ["effect", "xstate", "zod"]

/** The packages of a node. */
const ofNodes = [...ours, "store", "server", "cluster"]

/** The modules of the peers that the built files of a package import. */
const peerModules = (folder: string): ReadonlyArray<string> =>
  fs
    .globSync("**/*.js", { cwd: folder })
    .flatMap((path) => [
      ...fs.readFileSync(join(folder, path), "utf8").matchAll(/^(?:import|export) .*from "([^"]+)";$/gm)
    ])
    .map(([, specifier = ""]) => specifier)
    .filter((specifier) => peers.includes(specifier.split("/", 1).join("")))

/** A module that imports other modules for nothing but their cost. */
const imports = (specifiers: Iterable<string>): string =>
  [...specifiers].map((specifier) => `import ${JSON.stringify(specifier)}\n`).join("")

/** Packs packages into the folder, with links to the packages that these import. */
const fill = async (folder: string, packages: ReadonlyArray<string>): Promise<void> => {
  const modules = join(folder, "node_modules")
  fs.mkdirSync(join(modules, "@troupe"), { recursive: true })
  for (const found of workspacePackages().filter(({ short }) => packages.includes(short))) {
    const tarball = tarballOf(found, folder)
    const problems = await pack(found, tarball)
    if (problems.length > 0) throw new Error(problems.join("\n"))
    fs.renameSync(tarball.content, join(modules, found.manifest.name))
    const installed = join(root, found.folder, "node_modules")
    for (const name of dependencyNames(found.manifest)) {
      if (oursOf(name) !== undefined || fs.existsSync(join(modules, name))) continue
      fs.mkdirSync(dirname(join(modules, name)), { recursive: true })
      fs.symlinkSync(join(installed, name), join(modules, name))
    }
  }
  fs.writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "module" })}\n`)
}

/** Writes the modules that import the built packages of chats, and their peers. */
const writeImports = (folder: string): void => {
  const modules = join(folder, "node_modules")
  const imported = new Set(ours.flatMap((short) => peerModules(join(modules, "@troupe", short, "dist"))).toSorted())
  fs.writeFileSync(join(folder, peerImports), imports(imported))
  fs.writeFileSync(join(folder, chatImport), imports(["@troupe/chat"]))
}

/** A temporary folder with the built packages; its disposal deletes it. */
const unpack = async (fillIn: (folder: string) => Promise<void>): Promise<fs.DisposableTempDir> => {
  using stack = new DisposableStack()
  const folder = stack.use(fs.mkdtempDisposableSync(join(fs.realpathSync(tmpdir()), "troupe-bench-")))
  await fillIn(folder.path)
  stack.move()
  return folder
}

/** Packs the packages of chats into a new folder. */
export const unpackBuilt = (): Promise<fs.DisposableTempDir> =>
  unpack(async (folder) => {
    await fill(folder, ours)
    writeImports(folder)
  })

/** Packs the packages of a node into a new folder, beside a program. */
export const unpackNode = (program: URL, files: ReadonlyArray<string>): Promise<fs.DisposableTempDir> =>
  unpack(async (folder) => {
    await fill(folder, ofNodes)
    for (const file of files) fs.copyFileSync(new URL(file, program), join(folder, file))
  })
