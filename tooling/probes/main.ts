/**
 * Probes a framework: `pnpm probes [--framework <module>] [--only <id>]`.
 *
 * Without a framework: Troupe's two APIs, and plain async generators as the cost baseline without a runtime. A module
 * exports `framework`, in the form of `framework.ts`. The exit code is 1 when a line of Troupe, or of the named framework,
 * has a fault.
 *
 * @module
 */
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type { Framework } from "./framework.ts"
import { framework as generators } from "./generators.ts"
import type { Observation } from "./observe.ts"
import { probes } from "./probes.ts"
import { type Probe } from "./probe.ts"
import { head, lines } from "./table.ts"
import { livingChats, plainValues } from "./troupe.ts"

const { values } = parseArgs({ options: { framework: { type: "string" }, only: { type: "string" } } })
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

const load = async (path: string): Promise<Framework> => {
  const module = (await import(pathToFileURL(resolve(path)).href)) as { readonly framework?: Framework }
  if (module.framework === undefined)
    throw new Error(`${path} exports no \`framework\`; see tooling/probes/framework.ts`)
  return module.framework
}

if (chosenProbes.length === 0) {
  console.error(`There is no such probe; they are ${probes.map(({ id }) => id).join(", ")}`)
  process.exitCode = 2
} else if (values.framework === undefined) {
  let failed = 0
  for (const framework of [livingChats, plainValues]) failed += await runAll(framework, chosenProbes)
  const cost = chosenProbes.filter(({ id }) => id === "crowd")
  if (cost.length > 0) await runAll(generators, cost)
  process.exitCode = failed === 0 ? 0 : 1
} else {
  process.exitCode = (await runAll(await load(values.framework), chosenProbes)) === 0 ? 0 : 1
}
