/**
 * `pnpm crash [--seed N] [--sqlite N] [--postgres N]`: kills a program so many times on each database, and compares the store with
 * the program's acknowledgements. The exit code is 1 when something is lost, doubled or damaged.
 *
 * `pnpm crash --agents N [--seed N]` kills a program whose chats have trees of agents, three deep.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { isAcknowledged } from "../check/conversations.ts"
import { ofType } from "../check/history.ts"
import { tasksOf } from "../check/trees.ts"
import { crash } from "./crash.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    sqlite: { type: "string" },
    postgres: { type: "string" },
    agents: { type: "string", default: "0" }
  }
})
/** With `--agents` alone the other programs do not run. */
const livesOf = (given: string | undefined, usual: number): number =>
  given === undefined ? (values.agents === "0" ? usual : 0) : Number(given)
const seed = Number(values.seed)
const folder = mkdtempSync(join(tmpdir(), "troupe-crash-"))

const run = async (name: string, database: string, lives: number, areTrees = false): Promise<boolean> => {
  if (lives === 0) return true
  console.log(`${name}: ${lives} lives, seed ${seed}`)
  const reported = (life: number, seen: ReadonlyArray<string>): void => {
    if (seen.length > 0 || life % 25 === 0) console.log(`${name}: life ${life}, ${seen.length} wrong`)
  }
  const { lines, kept, early, wrong } = await crash({ database, lives, seed, areTrees, reported })
  const tasks = Array.from(kept.records.values()).flatMap(tasksOf).length
  const inputs = ofType(lines, "sent").filter(({ outcome }) => isAcknowledged(outcome)).length
  const interrupted = ofType(lines, "revived").filter(({ phase }) => phase === "interrupted").length
  const count = (type: "answered" | "forked" | "call" | "allowed"): number => ofType(lines, type).length
  console.log(
    `${name}: ${inputs} inputs accepted, ${count("answered")} answers given, ${count("forked")} forks, ${count("call")} calls that write, ${count("allowed")} approvals, ${tasks} background tasks; ${interrupted} conversations interrupted, ${early} lives ended before they began`
  )
  for (const what of wrong) console.log(`✗ ${what}`)
  if (wrong.length === 0) console.log("✓ nothing lost, nothing doubled, nothing damaged")
  return wrong.length === 0
}

try {
  const isWhole = await run("sqlite", join(folder, "chats.db"), livesOf(values.sqlite, 300))
  const areWhole = await run("agents", join(folder, "agents.db"), Number(values.agents), true)
  const lives = livesOf(values.postgres, 100)
  const server = lives === 0 ? undefined : await startPostgres()
  const isKept = server === undefined || (await run("postgres", server.url, lives))
  await server?.stop()
  process.exitCode = isWhole && areWhole && isKept ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
