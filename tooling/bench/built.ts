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
import { packAll } from "../packed/tarball.ts"

/** The packages of a node. */
const ofNodes = ["otp", "chat", "store", "server", "cluster"]

/** Packs the packages into the folder, with links to the packages that these import. */
const fill = async (folder: string): Promise<void> => {
  const modules = join(folder, "node_modules")
  fs.mkdirSync(join(modules, "@troupe"), { recursive: true })
  const tarballs = new Map((await packAll(folder)).map((tarball) => [tarball.name, tarball.content]))
  for (const found of workspacePackages().filter(({ short }) => ofNodes.includes(short))) {
    fs.renameSync(tarballs.get(found.manifest.name) ?? "", join(modules, found.manifest.name))
    const installed = join(root, found.folder, "node_modules")
    for (const name of dependencyNames(found.manifest)) {
      if (oursOf(name) !== undefined || fs.existsSync(join(modules, name))) continue
      fs.mkdirSync(dirname(join(modules, name)), { recursive: true })
      fs.symlinkSync(join(installed, name), join(modules, name))
    }
  }
  fs.writeFileSync(join(folder, "package.json"), `${JSON.stringify({ type: "module" })}\n`)
}

/** Packs the packages of a node into a new temporary folder, beside a program; its disposal deletes it. */
export const unpackNode = async (program: URL, files: ReadonlyArray<string>): Promise<fs.DisposableTempDir> => {
  using stack = new DisposableStack()
  const folder = stack.use(fs.mkdtempDisposableSync(join(fs.realpathSync(tmpdir()), "troupe-bench-")))
  await fill(folder.path)
  for (const file of files) fs.copyFileSync(new URL(file, program), join(folder.path, file))
  stack.move()
  return folder
}
