/**
 * Makes the accidents of trees of agents: `pnpm probes [agents] [--framework <module>] [--only <id>]`, on Troupe or on the framework
 * that a module exports as `framework`, in the form of `framework.ts`. The exit code is 1 when a row has a fault.
 *
 * `pnpm probes rivals` prints a table in Markdown of Troupe and the frameworks of `tooling/lab/rivals`.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { rowOf } from "./accident.ts"
import { accidents } from "./accidents.ts"
import type { Framework } from "./framework.ts"
import { framework as troupe } from "./troupe.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { framework: { type: "string" }, only: { type: "string" } }
})
const { framework: path, only } = values
const [subject = "agents"] = positionals
const chosen = accidents.filter(({ id }) => only === undefined || id === only)

const unhandled: Array<unknown> = []
process.on("unhandledRejection", (reason) => unhandled.push(reason))

const load = async (file: string | URL): Promise<Framework> => {
  const module = (await import(String(file))) as { readonly framework?: Framework }
  if (module.framework === undefined)
    throw new Error(`${file} exports no \`framework\`; see tooling/lab/probes/framework.ts`)
  return module.framework
}

/** Returns the number of rows with faults. */
const probe = async (framework: Framework): Promise<number> => {
  console.log(`\n${framework.name}\n`)
  let failed = 0
  for (const accident of chosen) {
    const { mark, seen, faults } = await rowOf(accident, framework)
    if (faults.length > 0) failed++
    console.log([`${mark} ${accident.title}`, `must: ${accident.must}`, `seen: ${seen}`].join("\n    "))
    for (const fault of faults) console.log(`    ✗ ${fault}`)
  }
  if (unhandled.length > 0) console.log(`✗ ${unhandled.length} unhandled rejections`)
  console.log(`\n${chosen.length - failed} of ${chosen.length} as they must be`)
  return failed + unhandled.length
}

/** The modules of the other frameworks are in no project of the workspace, and are installed apart. */
const rivals = new URL("../rivals/", import.meta.url)

const compare = async (): Promise<void> => {
  const server = await startPostgres()
  process.env["RIVALS_DATABASE"] = server.url
  const others = ["langgraph.ts", "openaiAgents.ts"].map((file) => load(new URL(file, rivals)))
  const frameworks = [troupe, ...(await Promise.all(others))]
  console.log(`| accident | ${frameworks.map(({ name }) => name).join(" | ")} |`)
  console.log(`| --- |${" --- |".repeat(frameworks.length)}`)
  for (const accident of accidents) {
    const cells: Array<string> = []
    for (const framework of frameworks) {
      const { mark, seen, faults } = await rowOf(accident, framework)
      cells.push([`${mark} ${seen}`, ...faults].join("<br>").replaceAll("|", "/").replaceAll(/\s+/g, " "))
    }
    console.log(`| ${accident.title} | ${cells.join(" | ")} |`)
  }
  await server.stop()
}

const refused = (message: string): void => {
  console.error(message)
  process.exitCode = 2
}

if (!["agents", "rivals"].includes(subject)) refused("Name agents, rivals, or nothing")
else if (chosen.length === 0) refused(`There is no such probe; they are ${accidents.map(({ id }) => id).join(", ")}`)
else if (subject === "agents") {
  const framework = path === undefined ? troupe : await load(pathToFileURL(resolve(path)))
  process.exitCode = (await probe(framework)) === 0 ? 0 : 1
} else if (existsSync(new URL("node_modules", rivals))) await compare()
else refused("Install the other frameworks first: see tooling/lab/rivals/README.md")
