/**
 * `pnpm packed`: packs every package, installs the tarballs outside of the workspace, and uses them there.
 *
 * **Details**: two projects are made in the folder of the system for temporary files. One has the versions of this workspace,
 * the other each peer at the lower end of its range, without the packages that need an exact version of one. Both run on the oldest Node that is supported, and on the Node of the
 * workspace. The projects are checked side by side, and a tarball while the next one is packed. The folder is deleted at the
 * end, unless `--keep` is given.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root, workspacePackages } from "../house/workspace.ts"
import { CheckRun, type Problems } from "./checkRun.ts"
import { failureOf, run } from "./program.ts"
import { writeExamples, writeLoader } from "./programs.ts"
import { install, resolutions, runFiles, typeCheck, type Versions } from "./project.ts"
import { attwProblems, contentProblems, manifestOf, packAll, publintProblems, type Tarball } from "./tarball.ts"
import { newest, oldest, oldestNode, suits } from "./versions.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "troupe-packed-"))
const checks = new CheckRun()
const libraries = workspacePackages().filter((found) => found.kind === "library")

/** The consumer's programs that are run in compiled form. */
const compiled = ["machines", "page", "instances"]

const checkTarballs = async (tarballs: ReadonlyArray<Tarball>): Promise<void> => {
  await Promise.all(
    tarballs.flatMap((tarball) => {
      const check = (what: string, body: () => Problems) => checks.check(`PACK1 ${tarball.name} ${what}`, body)
      return [
        check("holds its exports, README and licence, and no sources", () => contentProblems(tarball)),
        check("passes publint", () => publintProblems(tarball)),
        check("passes attw", () => attwProblems(tarball))
      ]
    })
  )
}

/** The oldest Node that is supported, if npm installs it, and that of the workspace. */
const runtimes = async () => {
  const version = oldestNode(libraries.map(({ manifest }) => manifest))
  const prefix = join(folder, "node")
  mkdirSync(prefix)
  const args = ["install", "--prefix", prefix, "--no-audit", "--no-fund", `node@${version}`]
  const isInstalled = await checks.check(`PACK2 npm installs Node ${version}`, async () =>
    failureOf(await run("npm", args, prefix))
  )
  const own = { title: `Node ${process.versions.node}`, path: process.execPath }
  const path = join(prefix, "node_modules/node/bin/node")
  return isInstalled ? [{ title: `Node ${version}`, path }, own] : [own]
}

const checkProject = async (
  tarballs: ReadonlyArray<Tarball>,
  title: string,
  versions: Versions,
  nodes: Awaited<ReturnType<typeof runtimes>>
): Promise<void> => {
  const project = join(folder, title.replaceAll(" ", "-"))
  const suitable = tarballs.filter((tarball) => suits(manifestOf(tarball), versions))
  const peers = ["effect", "xstate", "zod", "react"].map((name) => `${name} ${versions[name]}`).join(", ")
  const check = (what: string, body: () => Problems) => checks.check(what, body)
  const beside = `PACK2 ${title}: npm installs the tarballs beside ${peers}`
  if (!(await check(beside, () => install(project, suitable, versions)))) return
  const tsc = join(root, "node_modules/.bin/tsc")
  for (const resolution of resolutions) {
    const checked = `PACK3 CHARTTYPE1 ${title}: a consumer type-checks with ${resolution}`
    await check(checked, () => typeCheck(project, tsc, resolution))
  }
  const used = libraries.filter(({ manifest }) => suitable.some(({ name }) => name === manifest.name))
  const programs = [
    writeLoader(project, used),
    ...writeExamples(project, used),
    ...compiled.map((name) => ({ title: `the consumer's ${name}`, file: `out/nodenext/${name}.js` }))
  ]
  const files = programs.map(({ file }) => file)
  for (const node of nodes) {
    const problemsOf = await runFiles(project, node.path, files)
    for (const program of programs) {
      await check(`PACK2 ${title}: ${program.title} on ${node.title}`, () => problemsOf(program.file))
    }
  }
}

try {
  const [tarballs, nodes] = await Promise.all([packAll(folder), runtimes()])
  await checkTarballs(tarballs)
  const manifests = tarballs.map(manifestOf)
  const peers = [["newest peers", newest()] as const, ["oldest peers", oldest(manifests)] as const]
  await Promise.all(peers.map(([title, versions]) => checkProject(tarballs, title, versions, nodes)))
} finally {
  if (process.argv.includes("--keep")) process.stdout.write(`the projects are in ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
}
checks.end()
