/**
 * `pnpm release:check`: publishes every package to a registry on loopback, installs them in fresh folders as users do, and uses
 * them there.
 *
 * **Details**: npm makes two projects. One has the versions of this workspace, the other each peer at the lower end of its range,
 * without the packages that need an exact version of one. Both run on the oldest Node that is supported, and on the Node of the
 * workspace. pnpm and Bun install what the README names, and run its program; Bun and Deno run it too. The folder is deleted at the
 * end, unless `--keep` is given. The documentation site is built, and opened in a browser.
 *
 * RELEASE2. npm, pnpm and Bun install the published packages in a fresh folder, and the program of the README runs there.
 *
 * @module
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { root, workspacePackages } from "../house/workspace.ts"
import { commandProblems } from "./command.ts"
import { installWith, managers, readmeFile } from "./managers.ts"
import { publishAll, type Registry, withFolder, withServer } from "./registry.ts"
import { checkTemplates } from "./templates/checkTemplates.ts"
import {
  busyRatio,
  byteProblems,
  firstTokenProblems,
  maxBytes,
  maxPackages,
  maxRatio,
  packageProblems
} from "./weight.ts"
import { CheckRun, type Problems } from "../packed/checkRun.ts"
import { failureOf, run } from "../packed/program.ts"
import { writeExamples, writeLoader } from "../packed/programs.ts"
import { install, resolutions, runFiles, typeCheck, type Versions } from "../packed/project.ts"
import { attwProblems, contentProblems, manifestOf, packAll, publintProblems, type Tarball } from "../packed/tarball.ts"
import { newest, oldest, oldestNode, suits } from "../packed/versions.ts"

const checks = new CheckRun()

/** The packages in their registry, and the folder of the projects. */
interface Published {
  readonly folder: string
  readonly registry: Registry
  readonly tarballs: ReadonlyArray<Tarball>
}
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
const runtimes = async (folder: string) => {
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
  { folder, registry, tarballs }: Published,
  title: string,
  versions: Versions,
  nodes: Awaited<ReturnType<typeof runtimes>>
): Promise<void> => {
  const project = join(folder, title.replaceAll(" ", "-"))
  const suitable = tarballs.filter((tarball) => suits(manifestOf(tarball), versions))
  const peers = ["effect", "xstate", "zod", "react"].map((name) => `${name} ${versions[name]}`).join(", ")
  const check = (what: string, body: () => Problems) => checks.check(what, body)
  const beside = `PACK2 ${title}: npm installs the tarballs beside ${peers}`
  if (!(await check(beside, () => install(project, suitable, versions, registry.env)))) return
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

/** The program of the README, with each package manager and runtime beside npm and Node. */
const checkManagers = async ({ folder, registry }: Published): Promise<void> => {
  for (const manager of managers) {
    const project = join(folder, manager.name)
    const made = `RELEASE2 ${manager.name} installs what the README names`
    if (!(await checks.check(made, () => installWith(manager, project, registry.env)))) continue
    for (const runtime of manager.runtimes) {
      await checks.check(`RELEASE2 the README's program, installed by ${manager.name}, on ${runtime.name}`, async () =>
        failureOf(await run(runtime.program, [...runtime.args, readmeFile], project, registry.env))
      )
    }
  }
}

const checkWeight = async ({ folder, registry, tarballs }: Published): Promise<void> => {
  const check = (what: string, body: () => Problems) => checks.check(`WEIGHT1 ${what}`, body)
  await check(`all packages have at most ${maxBytes} bytes`, () => byteProblems(tarballs))
  await check(`a chat in a page is at most ${maxPackages} packages with all peers`, () =>
    packageProblems(join(folder, "light"), registry.env)
  )
  await check(
    `the first token of a fresh program takes at most ${busyRatio} times the processor time of ai, and ${maxRatio} on a quiet machine`,
    () => firstTokenProblems(join(folder, "first-token"), registry.env)
  )
}

/** The documentation site: it is built, and opened in a browser. */
const checkSite = async (): Promise<void> => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const held = "the site builds, its links lead to a heading, axe finds nothing, and its examples run"
  await checks.check(held, async () => failureOf(await run(process.execPath, [vitest, "run", "--project=site"], root)))
}

await withFolder(async (folder) => {
  const [tarballs, nodes] = await Promise.all([packAll(folder), runtimes(folder)])
  await checkTarballs(tarballs)
  await withServer(folder, async (url) => {
    const published: Published = { folder, tarballs, registry: await publishAll(folder, url, tarballs) }
    const manifests = tarballs.map(manifestOf)
    const peers = [["newest peers", newest()] as const, ["oldest peers", oldest(manifests)] as const]
    await Promise.all([
      ...peers.map(([title, versions]) => checkProject(published, title, versions, nodes)),
      checkManagers(published),
      checks.check("RELEASE3 npx troupe mcp serves a module in a fresh folder, and a client uses its tools", () =>
        commandProblems(join(folder, "command"), published.registry.env)
      )
    ])
    await checkWeight(published)
    const created = join(folder, "created")
    mkdirSync(created)
    await checkTemplates(checks, published.registry, created)
    await checkSite()
  })
}, process.argv.includes("--keep"))
checks.end()
