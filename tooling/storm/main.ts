/**
 * `pnpm storm [--minutes M] [--seed N] [--lease MS] [--chats N]`: a cluster of real processes on a PostgreSQL, under faults,
 * and then the check of what it has kept. The exit code is 1 when something is lost, doubled, late or damaged.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startPostgres } from "../../packages/store/test/double/postgresServer.ts"
import { runStorm } from "./run.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "2" },
    lease: { type: "string", default: "3000" },
    chats: { type: "string", default: "8" }
  }
})
const [seed, minutes, leaseMs, chats] = [
  Number(values.seed),
  Number(values.minutes),
  Number(values.lease),
  Number(values.chats)
]
const folder = mkdtempSync(join(tmpdir(), "troupe-storm-"))
console.log(`storm of ${minutes} minutes, seed ${seed}, a lease of ${leaseMs} ms, ${chats} chats`)
const server = await startPostgres()
try {
  const { wrong, lines, faults, calls, recoveredMs } = await runStorm({
    url: server.url,
    folder,
    seed,
    minutes,
    leaseMs,
    chats
  })
  const count = (type: string): number => lines.filter((line) => line.type === type).length
  const made = Array.from(faults, ([name, times]) => `${times} ${name}`).join(", ")
  for (const what of wrong.slice(0, 50)) console.log(`✗ ${what}`)
  if (wrong.length > 0) console.log(`the history is in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  console.log(
    `seed ${seed}: ${made}; ${count("send")} inputs, ${count("answered")} answered, ${calls} calls that write, ${count("read")} reads; recovered in ${recoveredMs} ms`
  )
  console.log(`${wrong.length === 0 ? 1 : 0} passed, ${wrong.length === 0 ? 0 : 1} failed`)
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
