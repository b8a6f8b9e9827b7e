/**
 * Probes a framework: `pnpm probes [--framework <module>] [--only <id>]`.
 *
 * Without a framework: Troupe's two APIs, and plain async generators as the cost baseline without a runtime. A module
 * exports `framework`, in the form of `framework.ts`. The exit code is 1 when a line of Troupe, or of the named framework,
 * has a fault.
 *
 * `pnpm probes agents [--framework <module>] [--only <id>]` probes trees of agents. A module exports `framework`, in the form
 * of `agents/agentFramework.ts`. `pnpm probes rivals` compares Troupe with the frameworks of `tooling/rivals`.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { accidents } from "./agents/accidents.ts"
import { printAccidents } from "./agents/agentTable.ts"
import { framework as troupeAgents } from "./agents/troupeAgents.ts"
import type { Framework } from "./framework.ts"
import { framework as generators } from "./generators.ts"
import type { Observation } from "./observe.ts"
import { probes } from "./probes.ts"
import { type Probe } from "./probe.ts"
import { head, lines } from "./table.ts"
import { livingChats, plainValues } from "./troupe.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { framework: { type: "string" }, only: { type: "string" } }
})
const [subject] = positionals
const chosenProbes = probes.filter(({ id }) => values.only === undefined || id === values.only)

const unhandled: Array<unknown> = []
process.on("unhandledRejection", (reason) => unhandled.push(reason))

/** Runs the probe with the longest wait beside the others; the crowd runs alone. */
const runAll = async (framework: Framework, all: ReadonlyArray<Probe>): Promise<number> => {
  const chosen = all.filter(({ durable }) => durable !== true || framework.durable)
  for (const line of head(framework.name)) console.log(line)
  const slow = chosen.find(({ id }) => id === "never")
  const waiting = slow?.run(framework)
  let failed = 0
  const print = (probe: Probe, seen: Observation): void => {
    const faults = probe.faults(seen, framework)
    if (faults.length > 0) failed++
    for (const line of lines(probe.title, seen, faults)) console.log(line)
  }
  for (const probe of chosen) {
    if (probe === slow || probe.id === "crowd") continue
    print(probe, await probe.run(framework))
  }
  if (slow !== undefined && waiting !== undefined) print(slow, await waiting)
  const crowd = chosen.find(({ id }) => id === "crowd")
  if (crowd !== undefined) print(crowd, await crowd.run(framework))
  if (unhandled.length > 0) {
    failed++
    console.log(`✗ ${unhandled.splice(0).length} unhandled rejections`)
  }
  console.log(`\n${chosen.length - failed} of ${chosen.length} as they must be`)
  return failed
}

const load = async <Found>(path: string, form: string): Promise<Found> => {
  const module = (await import(pathToFileURL(resolve(path)).href)) as { readonly framework?: Found }
  if (module.framework === undefined) throw new Error(`${path} exports no \`framework\`; see tooling/probes/${form}`)
  return module.framework
}

/** Probes trees of agents. */
const probeAgents = async (path: string | undefined): Promise<number> =>
  printAccidents(path === undefined ? troupeAgents : await load(path, "agents/agentFramework.ts"), values.only)

const probeAll = async (path: string | undefined): Promise<number> => {
  if (path !== undefined) return runAll(await load(path, "framework.ts"), chosenProbes)
  let failed = 0
  for (const framework of [livingChats, plainValues]) failed += await runAll(framework, chosenProbes)
  const cost = chosenProbes.filter(({ id }) => id === "crowd")
  if (cost.length > 0) await runAll(generators, cost)
  return failed
}

const known = (subject === "agents" ? accidents : probes).map(({ id }) => id)

/** Its modules are in no project of the workspace: they import frameworks that are installed apart. */
const rivals = new URL("../rivals/run.ts", import.meta.url)

if (subject === "rivals") {
  if (existsSync(new URL("node_modules", rivals))) await import(rivals.href)
  else {
    console.error("Install the other frameworks first: see tooling/rivals/README.md")
    process.exitCode = 2
  }
} else if (subject !== undefined && subject !== "agents") {
  console.error("Name agents, rivals, or nothing")
  process.exitCode = 2
} else if (values.only !== undefined && !known.includes(values.only)) {
  console.error(`There is no such probe; they are ${known.join(", ")}`)
  process.exitCode = 2
} else {
  const failed = await (subject === "agents" ? probeAgents : probeAll)(values.framework)
  process.exitCode = failed === 0 ? 0 : 1
}
