/**
 * `pnpm storm [--minutes M] [--seed N | --kept] [--lease MS] [--chats N] [--keep]`: a cluster of real processes on a
 * PostgreSQL, under faults, and then the check of what it has kept. The exit code is 1 when something is lost, doubled, late
 * or damaged.
 *
 * **Details**: `--kept` takes the seed of the day (`seeds.ts`). `--keep` leaves the history also when nothing is wrong.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startPostgres } from "../../packages/store/test/double/postgresServer.ts"
import { runStorm } from "./run.ts"
import { seedOfDay } from "./seeds.ts"

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
const [seed, minutes, leaseMs, chats] = [
  values.kept ? seedOfDay(Date.now()) : Number(values.seed),
  Number(values.minutes),
  Number(values.lease),
  Number(values.chats)
]
const folder = mkdtempSync(join(tmpdir(), "troupe-storm-"))
console.log(`storm of ${minutes} minutes, seed ${seed}, a lease of ${leaseMs} ms, ${chats} chats`)
const server = await startPostgres()
try {
  const { wrong, lines, faults, calls, children, recoveredMs, together, entries } = await runStorm({
    server,
    folder,
    seed,
    minutes,
    leaseMs,
    chats
  })
  const count = (type: string): number => lines.filter((line) => line.type === type).length
  const sum = lines.reduce((ms, line) => (line.type === "delay" ? ms + line.ms : ms), 0)
  const ends = lines.flatMap((line) => (line.type === "node" && line.event === "left" ? [line.detail ?? ""] : []))
  const made = Array.from(faults, ([name, times]) => `${times} ${name}`).join(", ")
  for (const what of wrong.slice(0, 50)) console.log(`✗ ${what}`)
  if (wrong.length > 0 || values.keep) console.log(`the history is in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  console.log(
    `seed ${seed}: ${made}; ${count("send")} inputs, ${count("answered")} answered, ${together} of them with a later one, ${calls} calls that write, ${children} sub-agents, ${count("read")} reads; recovered in ${recoveredMs} ms`
  )
  const busy = Math.round((100 * sum) / ((lines.at(-1)?.at ?? 0) - (lines[0]?.at ?? 0)))
  console.log(`entries: ${entries}; ${busy} % of the time do not count, as the machine was busy`)
  console.log(`from SIGTERM to the end of a process, in ms: ${ends.map((end) => parseInt(end)).join(", ")}`)
  console.log(`${wrong.length === 0 ? 1 : 0} passed, ${wrong.length === 0 ? 0 : 1} failed`)
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
