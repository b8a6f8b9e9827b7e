/** One storm: nodes, clients and faults, and then the comparison of the history with the database. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { postgres } from "@troupe/store"
import type { PostgresServer } from "../../../packages/store/test/double/postgresServer.ts"
import { chanceOf } from "../chance.ts"
import { checked } from "../check/checker.ts"
import { History, type Line } from "../check/history.ts"
import { type Kept, recordsOf } from "../check/kept.ts"
import { Delays } from "../delays.ts"
import { clientOf } from "./clients.ts"
import { storm } from "./faults.ts"
import { Fleet } from "./fleet.ts"
import { keepLedger, ledgerOf, tablesOf } from "./ledger.ts"

/** The options of a storm. `folder` gets the history, and what was stored. */
export interface StormOptions {
  readonly server: PostgresServer
  readonly folder: string
  readonly seed: number
  readonly minutes: number
  readonly leaseMs: number
  readonly chats: number
}

/** The result of a storm. The lines are those before its end. */
export interface Stormed {
  readonly wrong: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  readonly kept: Kept
  readonly faults: ReadonlyMap<string, number>
}

/** Runs one storm on an empty database. */
export const runStorm = async (options: StormOptions): Promise<Stormed> => {
  const { server, folder, seed, minutes, leaseMs, chats } = options
  const { url } = server
  const history = new History(join(folder, "history.jsonl"))
  const fleet = new Fleet(history, server, leaseMs)
  const delays = new Delays((ms) => history.add({ type: "delay", ms }))
  const undo = [() => fleet.close(), () => delays.stop()]
  try {
    await keepLedger(url)
    await Promise.all([fleet.join("home"), fleet.join("home", "next"), fleet.join("home"), fleet.join("gateway")])
    let isOver = false
    const clients = Array.from({ length: chats }, (_, index) =>
      clientOf(`c${index + 1}`, fleet, history, delays, chanceOf(seed * 1_009 + index))
    )
    const leaving = clients.map((client) => client.read())
    undo.push(...leaving)
    const running = clients.map((client) => client.run(() => isOver))
    const faults = await storm(fleet, { chance: chanceOf(seed), leaseMs, until: Date.now() + minutes * 60_000 })
    isOver = true
    await Promise.all(running)
    for (const leave of leaving) leave()
    await Promise.all(fleet.running.map((node) => fleet.term(node)))
    const store = postgres(url)
    const kept: Kept = { records: await recordsOf(store), logs: await ledgerOf(url) }
    await store.close()
    writeFileSync(join(folder, "kept.json"), JSON.stringify({ ...(await tablesOf(url)), ...kept }, toJson, 1))
    const lines = beforeTheEnd(history.lines())
    return { wrong: checked(lines, kept, { leaseMs }), lines, kept, faults }
  } finally {
    for (const end of undo.toReversed()) end()
  }
}

/** The lines without the SIGTERM that ends each node at the end of the storm, which is no fault. */
const beforeTheEnd = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const last = lines.findLastIndex(({ type }) => type === "answered")
  return lines.filter((line, index) => index <= last || line.type !== "node" || line.event !== "term")
}

const toJson = (_: string, value: unknown): unknown =>
  value instanceof Map ? Object.fromEntries(value) : typeof value === "bigint" ? String(value) : value
