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
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { conclude, optionsOf } from "../command.ts"
import { rowOf } from "./accident.ts"
import { accidents } from "./accidents.ts"
import type { Framework } from "./framework.ts"
import { framework as troupe } from "./troupe.ts"

const { framework: path, only, names } = optionsOf({ framework: "", only: "" }, true)
const [subject = "agents"] = names
const chosen = accidents.filter(({ id }) => only === "" || id === only)

const unhandled: Array<unknown> = []
process.on("unhandledRejection", (reason) => unhandled.push(reason))

const load = async (file: URL): Promise<Framework> => {
  const { framework } = (await import(file.href)) as { readonly framework?: Framework }
  if (framework === undefined) throw new Error(`${file} exports no \`framework\`; see tooling/lab/probes/framework.ts`)
  return framework
}

const probe = async (framework: Framework): Promise<void> => {
  console.log(`\n${framework.name}\n`)
  let failed = 0
  for (const accident of chosen) {
    const { mark, seen, faults } = await rowOf(accident, framework)
    failed += Number(faults.length > 0)
    console.log([`${mark} ${accident.title}`, `must: ${accident.must}`, `seen: ${seen}`].join("\n    "))
    for (const fault of faults) console.log(`failed: ${accident.id}: ${fault}`)
  }
  conclude(unhandled.length > 0 ? [`${unhandled.length} unhandled rejections`] : [])
  console.log(`\n${chosen.length - failed} of ${chosen.length} as they must be`)
  if (failed > 0) process.exitCode = 1
}

/** The modules of the other frameworks are in no project of the workspace, and are installed apart. */
const rivals = new URL("../rivals/", import.meta.url)

const compare = async (): Promise<void> => {
  const server = await startPostgres()
  process.env["RIVALS_DATABASE"] = server.url
  const others = ["langgraph.ts", "openaiAgents.ts"].map((file) => load(new URL(file, rivals)))
  const frameworks = [troupe, ...(await Promise.all(others))]
  const line = (...cells: ReadonlyArray<string>): void => console.log(`| ${cells.join(" | ")} |`)
  line("accident", ...frameworks.map(({ name }) => name))
  line(...["accident", ...frameworks].map(() => "---"))
  for (const accident of accidents) {
    const cells: Array<string> = []
    for (const framework of frameworks) {
      const { mark, seen, faults } = await rowOf(accident, framework)
      cells.push([`${mark} ${seen}`, ...faults].join("<br>").replaceAll("|", "/").replaceAll(/\s+/g, " "))
    }
    line(accident.title, ...cells)
  }
  await server.stop()
}

const refuse = (message: string): void => {
  console.error(message)
  process.exitCode = 2
}

if (!["agents", "rivals"].includes(subject)) refuse("Name agents, rivals, or nothing")
else if (chosen.length === 0) refuse(`There is no such probe; they are ${accidents.map(({ id }) => id).join(", ")}`)
else if (subject === "agents") await probe(path === "" ? troupe : await load(pathToFileURL(resolve(path))))
else if (existsSync(new URL("node_modules", rivals))) await compare()
else refuse("Install the other frameworks first: see tooling/lab/rivals/README.md")
