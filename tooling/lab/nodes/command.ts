/**
 * `pnpm storm [--minutes M] [--seed N | --kept] [--lease MS] [--chats N] [--keep]`: a cluster of real processes on a PostgreSQL,
 * under faults, and then the check of what it has kept. The exit code is 1 when something is lost, doubled, late or damaged.
 *
 * **Details**: `--kept` takes one of the seeds that have found a fault, the next one each day. `--keep` leaves the history also when
 * nothing is wrong.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { textsOf } from "../check/conversations.ts"
import { ofType } from "../check/history.ts"
import { recoveries } from "../check/nodes.ts"
import { answersIn } from "../workload.ts"
import { entriesOf } from "./ledger.ts"
import { runStorm } from "./run.ts"

/** The seeds of storms that have found a fault. */
const seeds = [7, 13]
const dayMs = 86_400_000

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    kept: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    minutes: { type: "string", default: "2" },
    lease: { type: "string", default: "3000" },
    chats: { type: "string", default: "8" }
  }
})
const seed = values.kept ? (seeds[Math.floor(Date.now() / dayMs) % seeds.length] ?? 7) : Number(values.seed)
const [minutes, leaseMs, chats] = [Number(values.minutes), Number(values.lease), Number(values.chats)]
const folder = mkdtempSync(join(tmpdir(), "troupe-storm-"))
console.log(`storm of ${minutes} minutes, seed ${seed}, a lease of ${leaseMs} ms, ${chats} chats`)
const server = await startPostgres()
try {
  const { wrong, lines, kept, faults } = await runStorm({ server, folder, seed, minutes, leaseMs, chats })
  const count = (type: "send" | "answered" | "call" | "read"): number => ofType(lines, type).length
  const records = Array.from(kept.records.values())
  const together = records
    .flatMap((record) => textsOf(record, "assistant"))
    .reduce((sum, text) => sum + Math.max(0, answersIn(text).length - 1), 0)
  const children = records.filter(({ parent }) => parent !== undefined).length
  const made = Array.from(faults, ([name, times]) => `${times} ${name}`).join(", ")
  const recoveredMs = Math.max(0, ...recoveries(lines).values())
  const delayMs = ofType(lines, "delay").reduce((sum, { ms }) => sum + ms, 0)
  const busy = Math.round((100 * delayMs) / ((lines.at(-1)?.at ?? 0) - (lines[0]?.at ?? 0)))
  const ends = ofType(lines, "node").flatMap(({ event, detail }) => (event === "left" ? [detail] : []))
  for (const what of wrong.slice(0, 50)) console.log(`✗ ${what}`)
  if (wrong.length > 0 || values.keep) console.log(`the history is in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  console.log(
    `seed ${seed}: ${made}; ${count("send")} inputs, ${count("answered")} answered, ${together} of them with a later one, ${count("call")} calls that write, ${children} sub-agents, ${count("read")} reads; recovered in ${recoveredMs} ms`
  )
  console.log(`entries: ${await entriesOf(server.url)}; ${busy} % of the time do not count, as the machine was busy`)
  console.log(`from SIGTERM to the end of a process, in ms: ${ends.join(", ")}`)
  console.log(wrong.length === 0 ? "1 passed, 0 failed" : "0 passed, 1 failed")
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
