/**
 * `pnpm storm [--minutes M] [--seed N | --kept] [--lease MS] [--chats N] [--keep]`: a cluster of real processes on a PostgreSQL,
 * under faults, and then the check of what it has kept. The exit code is 1 when something is lost, doubled, late or damaged.
 *
 * **Details**: `--kept` takes one of the seeds that have found a fault, the next one each day. `--keep` leaves the history also when
 * nothing is wrong.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { chanceOf } from "../chance.ts"
import { checked } from "../check/checker.ts"
import { textsOf } from "../check/conversations.ts"
import { historyIn, type Line, ofType } from "../check/history.ts"
import { type Kept, openStore, recordsOf } from "../check/kept.ts"
import { recoveries } from "../check/nodes.ts"
import { anySeed, conclude, optionsOf } from "../command.ts"
import { delaysOf } from "../delays.ts"
import { answersIn } from "../workload.ts"
import { clientOf } from "./clients.ts"
import { storm } from "./faults.ts"
import { fleetOf } from "./fleet.ts"
import { entriesOf, keepLedger, ledgerOf, tablesOf } from "./ledger.ts"

/** The seeds of storms that have found a fault. */
const seeds = [7, 13]
const dayMs = 86_400_000

const options = optionsOf({ seed: anySeed(), kept: false, keep: false, minutes: 2, lease: 3_000, chats: 8 })
const { minutes, lease: leaseMs, chats } = options
const seed = options.kept ? (seeds[Math.floor(Date.now() / dayMs) % seeds.length] ?? 7) : options.seed
/** Has the history, and what was stored. */
const folder = mkdtempSync(join(tmpdir(), "troupe-storm-"))

/** The lines without the SIGTERM that ends each node at the end of the storm, which is no fault. */
const beforeTheEnd = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const last = lines.findLastIndex(({ type }) => type === "answered")
  return lines.filter((line, index) => index <= last || line.type !== "node" || line.event !== "term")
}

const toJson = (_: string, value: unknown): unknown =>
  value instanceof Map ? Object.fromEntries(value) : typeof value === "bigint" ? String(value) : value

console.log(`storm of ${minutes} minutes, seed ${seed}, a lease of ${leaseMs} ms, ${chats} chats`)
const server = await startPostgres()
const { url } = server
const history = historyIn(join(folder, "history.jsonl"))
const fleet = fleetOf(history, server, leaseMs)
const delays = delaysOf((ms) => history.add({ type: "delay", ms }))
try {
  await keepLedger(url)
  await Promise.all([fleet.join("home"), fleet.join("home", "next"), fleet.join("home"), fleet.join("gateway")])
  let isOver = false
  const clients = Array.from({ length: chats }, (_, index) =>
    clientOf(`c${index + 1}`, fleet, history, chanceOf(seed * 1_009 + index))
  )
  const leaving = clients.map((client) => client.read())
  const running = clients.map((client) => client.run(() => isOver))
  const faults = await storm(fleet, chanceOf(seed), leaseMs, Date.now() + minutes * 60_000)
  isOver = true
  await Promise.all(running)
  await Promise.all(leaving.map((leave) => leave()))
  await Promise.all(fleet.running.map((node) => fleet.end(node, "term")))
  const store = openStore(url)
  const kept: Kept = { records: await recordsOf(store), logs: await ledgerOf(url) }
  await store.close()
  writeFileSync(join(folder, "kept.json"), JSON.stringify({ ...(await tablesOf(url)), ...kept }, toJson, 1))
  delays.stop()
  const lines = beforeTheEnd(history.lines)
  const wrong = checked(lines, kept, { leaseMs })

  const count = (type: "send" | "answered" | "call" | "read"): number => ofType(lines, type).length
  const records = Array.from(kept.records.values())
  const together = records
    .flatMap((record) => textsOf(record, "assistant"))
    .reduce((sum, text) => sum + Math.max(0, answersIn(text).length - 1), 0)
  const children = records.filter(({ parent }) => parent !== undefined).length
  const made = faults.all.map(([name, times]) => `${times} ${name}`).join(", ")
  const recoveredMs = Math.max(0, ...recoveries(lines).values())
  const delayMs = ofType(lines, "delay").reduce((sum, { ms }) => sum + ms, 0)
  const busy = Math.round((100 * delayMs) / ((lines.at(-1)?.at ?? 0) - (lines[0]?.at ?? 0)))
  const ends = ofType(lines, "node").flatMap(({ event, detail }) => (event === "left" ? [detail] : []))
  conclude(wrong)
  if (wrong.length > 0 || options.keep) console.log(`the history is in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  console.log(
    `seed ${seed}: ${made}; ${count("send")} inputs, ${count("answered")} answered, ${together} of them with a later one, ${count("call")} calls that write, ${children} sub-agents, ${count("read")} reads; recovered in ${recoveredMs} ms`
  )
  console.log(`entries: ${await entriesOf(url)}; ${busy} % of the time do not count, as the machine was busy`)
  console.log(`from SIGTERM to the end of a process, in ms: ${ends.join(", ")}`)
  console.log(wrong.length === 0 ? "1 passed, 0 failed" : "0 passed, 1 failed")
} finally {
  delays.stop()
  fleet.close()
  await server.stop()
}
