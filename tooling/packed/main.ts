/**
 * `pnpm packed`: packs every package, installs the tarballs outside of the workspace, and uses them there.
 *
 * **Details**: two projects are made in the folder of the system for temporary files. One has the versions of this workspace,
 * the other each peer at the lower end of its range, without the packages that need an exact version of one. Both run on the oldest Node that is supported, and on the Node of the
 * workspace. The folder is deleted at the end, unless `--keep` is given.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root, workspacePackages } from "../house/workspace.ts"
import { CheckRun } from "./checkRun.ts"
import { failureOf, run } from "./program.ts"
import { writeExamples, writeLoader } from "./programs.ts"
import { install, resolutions, runFile, typeCheck } from "./project.ts"
import { attwProblems, contentProblems, manifestOf, pack, publintProblems, tarballOf } from "./tarball.ts"
import { newest, oldest, oldestNode, suits } from "./versions.ts"

const libraries = workspacePackages().filter((found) => found.kind === "library")
const folder = mkdtempSync(join(realpathSync(tmpdir()), "troupe-packed-"))
const checks = new CheckRun()
const tarballs = libraries.map((found) => ({ found, tarball: tarballOf(found, folder) }))

/** The consumer's programs that are run in compiled form. */
const compiled = ["machines", "page", "instances"]

const checkTarballs = async (): Promise<boolean> => {
  let arePacked = true
  for (const { found, tarball } of tarballs) {
    const isPacked = await checks.check(`PACK1 ${tarball.name} is packed`, () => pack(found, tarball))
    arePacked &&= isPacked
    if (!isPacked) continue
    await checks.check(`PACK1 ${tarball.name} holds its exports, sources, maps, README and licence`, () =>
      contentProblems(tarball)
    )
    await checks.check(`PACK1 ${tarball.name} passes publint`, () => publintProblems(tarball))
    await checks.check(`PACK1 ${tarball.name} passes attw`, () => attwProblems(tarball))
  }
  return arePacked
}

const checkProjects = async (): Promise<void> => {
  const manifests = tarballs.map(({ tarball }) => manifestOf(tarball))
  const version = oldestNode(manifests)
  const nodeFolder = join(folder, "node")
  mkdirSync(nodeFolder)
  const gotNode = await checks.check(`PACK2 npm installs Node ${version}`, async () =>
    failureOf(
      await run("npm", ["install", "--prefix", nodeFolder, "--no-audit", "--no-fund", `node@${version}`], nodeFolder)
    )
  )
  const nodes = [
    ...(gotNode ? [{ title: `Node ${version}`, path: join(nodeFolder, "node_modules/node/bin/node") }] : []),
    { title: `Node ${process.versions.node}`, path: process.execPath }
  ]
  for (const [title, versions] of [
    ["newest peers", newest()],
    ["oldest peers", oldest(manifests)]
  ] as const) {
    await checkProject(title, versions, nodes)
  }
}

const checkProject = async (
  title: string,
  versions: Readonly<Record<string, string>>,
  nodes: ReadonlyArray<{ readonly title: string; readonly path: string }>
): Promise<void> => {
  const project = join(folder, title.replaceAll(" ", "-"))
  const suitable = tarballs.filter(({ tarball }) => suits(manifestOf(tarball), versions))
  const peers = ["effect", "xstate", "zod", "react"].map((name) => `${name} ${versions[name]}`).join(", ")
  const installed = await checks.check(`PACK2 ${title}: npm installs the tarballs beside ${peers}`, () =>
    install(
      project,
      suitable.map(({ tarball }) => tarball),
      versions
    )
  )
  if (!installed) return
  const tsc = join(root, "node_modules/.bin/tsc")
  const installedLibraries = suitable.map(({ found }) => found)
  for (const resolution of resolutions) {
    await checks.check(`PACK3 CHARTTYPE1 ${title}: a consumer type-checks with ${resolution}`, () =>
      typeCheck(project, tsc, resolution)
    )
  }
  const programs = [
    writeLoader(project, installedLibraries),
    ...writeExamples(project, installedLibraries),
    ...compiled.map((name) => ({ title: `the consumer's ${name}`, file: `out/nodenext/${name}.js` }))
  ]
  for (const node of nodes) {
    for (const program of programs) {
      await checks.check(`PACK2 ${title}: ${program.title} on ${node.title}`, () =>
        runFile(project, node.path, program.file)
      )
    }
  }
}

try {
  if (await checkTarballs()) await checkProjects()
} finally {
  if (process.argv.includes("--keep")) process.stdout.write(`the projects are in ${folder}\n`)
  else rmSync(folder, { recursive: true, force: true })
}
checks.end()
