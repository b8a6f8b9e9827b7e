/**
 * Probes a framework: `pnpm probes [agents] [--framework <module>] [--only <id>]`.
 *
 * Without a framework: Troupe's two APIs, and plain async generators as the cost baseline without a runtime. A module exports
 * `framework`, in the form of `framework.ts`. `agents` probes trees of agents. The exit code is 1 when a line of Troupe, or of the
 * named framework, has a fault. `pnpm probes rivals` compares Troupe with the frameworks of `tooling/lab/rivals`.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type { Framework } from "./framework.ts"
import { framework as generators } from "./generators.ts"
import { type Probe, rowOf } from "./probe.ts"
import { trees } from "./trees.ts"
import { framework as livingChats, plainValues } from "./troupe.ts"
import { turns } from "./turns.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { framework: { type: "string" }, only: { type: "string" } }
})
const { framework: path, only } = values
const [subject] = positionals
const probes = subject === "agents" ? trees : turns
const chosen = probes.filter(({ id }) => only === undefined || id === only)

const unhandled: Array<unknown> = []
process.on("unhandledRejection", (reason) => unhandled.push(reason))

/** Probes a framework, and returns the number of rows with faults. The probe with the longest wait runs beside the others. */
const runAll = async (framework: Framework, all: ReadonlyArray<Probe>): Promise<number> => {
  console.log(`\n${framework.name}\n`)
  let failed = 0
  const slow = all.find(({ id }) => id === "never")
  const waiting = slow === undefined ? undefined : rowOf(slow, framework)
  for (const probe of all.toSorted((one, other) => Number(one === slow) - Number(other === slow))) {
    if (probe.id === "crowd") await waiting
    const { mark, seen, faults } = await (probe === slow && waiting !== undefined ? waiting : rowOf(probe, framework))
    const { title, must } = probe
    if (faults.length > 0) failed++
    console.log([`${mark} ${title}`, ...(must === undefined ? [] : [`must: ${must}`]), `seen: ${seen}`].join("\n    "))
    for (const fault of faults) console.log(`    ✗ ${fault}`)
  }
  if (unhandled.length > 0) {
    failed++
    console.log(`✗ ${unhandled.splice(0).length} unhandled rejections`)
  }
  console.log(`\n${all.length - failed} of ${all.length} as they must be`)
  return failed
}

const load = async (file: string): Promise<Framework> => {
  const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly framework?: Framework }
  if (module.framework === undefined)
    throw new Error(`${file} exports no \`framework\`; see tooling/lab/probes/framework.ts`)
  return module.framework
}

const probeAll = async (): Promise<number> => {
  if (path !== undefined) return runAll(await load(path), chosen)
  if (subject === "agents") return runAll(livingChats, chosen)
  let failed = 0
  for (const framework of [livingChats, plainValues]) failed += await runAll(framework, chosen)
  const cost = chosen.filter(({ id }) => id === "crowd")
  if (cost.length > 0) await runAll(generators, cost)
  return failed
}

/** Its modules are in no project of the workspace: they import frameworks that are installed apart. */
const rivals = new URL("../rivals/run.ts", import.meta.url)

const refused = (message: string): void => {
  console.error(message)
  process.exitCode = 2
}

if (subject === "rivals") {
  if (existsSync(new URL("node_modules", rivals))) await import(rivals.href)
  else refused("Install the other frameworks first: see tooling/lab/rivals/README.md")
} else if (subject !== undefined && subject !== "agents") refused("Name agents, rivals, or nothing")
else if (chosen.length === 0) refused(`There is no such probe; they are ${probes.map(({ id }) => id).join(", ")}`)
else process.exitCode = (await probeAll()) === 0 ? 0 : 1
