/**
 * `pnpm probes rivals`: runs the accidents of trees of agents on Troupe and on other frameworks, and prints one table in Markdown.
 *
 * @module
 */
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { type Row, rowOf } from "../probes/probe.ts"
import { trees } from "../probes/trees.ts"
import { framework as troupe } from "../probes/troupe.ts"
import { framework as langgraph } from "./langgraph.ts"
import { framework as openaiAgents } from "./openaiAgents.ts"

const frameworks = [troupe, langgraph, openaiAgents]

const cell = ({ mark, seen, faults }: Row): string =>
  [`${mark} ${seen}`, ...faults].join("<br>").replaceAll("|", "/").replaceAll(/\s+/g, " ")

const server = await startPostgres()
process.env["RIVALS_DATABASE"] = server.url
console.log(`| accident | ${frameworks.map(({ name }) => name).join(" | ")} |`)
console.log(`| --- |${" --- |".repeat(frameworks.length)}`)
for (const accident of trees) {
  const cells: Array<string> = []
  for (const framework of frameworks) cells.push(cell(await rowOf(accident, framework)))
  console.log(`| ${accident.title} | ${cells.join(" | ")} |`)
}
await server.stop()
