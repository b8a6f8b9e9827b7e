/** One storm: nodes, clients and faults, and then the comparison of the history with the database. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Conversation } from "@troupe/chat/store"
import { postgres } from "@troupe/store"
import type { PostgresServer } from "../../packages/store/test/double/postgresServer.ts"
import { queries } from "../../packages/store/test/double/queries.ts"
import { chanceOf } from "../soak/chance.ts"
import { checked, type Kept, recoveries, together } from "./checker.ts"
import { StormClient } from "./clients.ts"
import { Delays } from "./delays.ts"
import { storm } from "./faults.ts"
import { Fleet } from "./fleet.ts"
import { History, type Line, linesOf } from "./history.ts"
import { type Call, keepLedger, ledgerOf } from "./ledger.ts"

/** The options of a storm. `folder` gets the history and the journal of the tool. */
export interface StormOptions {
  readonly server: PostgresServer
  readonly folder: string
  readonly seed: number
  readonly minutes: number
  readonly leaseMs: number
  readonly chats: number
}

/** The result of a storm. */
export interface Stormed {
  readonly wrong: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  readonly faults: ReadonlyMap<string, number>
  readonly calls: number
  /** How many conversations of sub-agents there are. */
  readonly children: number
  /** The longest time from the last fault to the first answer of a chat, in milliseconds. */
  readonly recoveredMs: number
  /** How many inputs were answered together with a later one. */
  readonly together: number
  /** How many entries each build has written. */
  readonly entries: string
}

/** Runs one storm on an empty database. */
export const runStorm = async (options: StormOptions): Promise<Stormed> => {
  const { server, folder, seed, minutes, leaseMs, chats } = options
  const { url } = server
  const history = new History(join(folder, "history.jsonl"))
  const journal = join(folder, "journal.jsonl")
  const fleet = new Fleet(history, { server, leaseMs, journal, secret: `the secret of storm ${seed}` })
  const delays = new Delays(history)
  const undo = [() => fleet.close(), () => delays.stop()]
  try {
    await keepLedger(url)
    await Promise.all([fleet.join("home"), fleet.join("home", "next"), fleet.join("home"), fleet.join("gateway")])
    let isOver = false
    const clients = Array.from(
      { length: chats },
      (_, index) => new StormClient(`c${index + 1}`, { fleet, history, delays, chance: chanceOf(seed * 1_009 + index) })
    )
    const leaving = clients.map((client) => client.read())
    undo.push(...leaving)
    const running = clients.map((client) => client.run({ isOver: () => isOver }))
    const faults = await storm(fleet, { chance: chanceOf(seed), leaseMs, until: Date.now() + minutes * 60_000 })
    isOver = true
    await Promise.all(running)
    for (const leave of leaving) leave()
    await Promise.all(fleet.running.map((node) => fleet.term(node)))
    const lines = history.lines()
    const calls = linesOf(journal) as ReadonlyArray<Call>
    const kept: Kept = { ...(await conversationsOf(url, clients)), ledger: await ledgerOf(url), journal: calls }
    writeFileSync(join(folder, "kept.json"), JSON.stringify({ ...(await tablesOf(url)), ...kept }, toJson, 1))
    const recoveredMs = Math.max(0, ...recoveries(beforeTheEnd(lines)).values())
    const wrong = checked(beforeTheEnd(lines), kept, { leaseMs })
    return {
      wrong,
      lines,
      faults,
      calls: calls.length,
      children: kept.children.size,
      recoveredMs,
      together: together(kept.records),
      entries: await entriesOf(url)
    }
  } finally {
    for (const end of undo.toReversed()) end()
  }
}

/** The lines without the SIGTERM that ends each node at the end of the storm, which is no fault. */
const beforeTheEnd = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const last = lines.findLastIndex(({ type }) => type === "answered")
  return lines.filter((line, index) => index <= last || line.type !== "node" || line.event !== "term")
}

const conversationsOf = async (
  url: string,
  clients: ReadonlyArray<StormClient>
): Promise<Pick<Kept, "records" | "children">> => {
  const store = postgres(url)
  const load = async (ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, Conversation>> => {
    const loaded = new Map<string, Conversation>()
    for (const id of ids) {
      const record = await store.load(`storm/${id}`)
      if (record !== undefined) loaded.set(id, record)
    }
    return loaded
  }
  try {
    const chats = clients.map(({ chat }) => chat)
    const records = await load(chats)
    const children = new Map<string, Conversation>()
    for (const chat of chats) {
      const { chats: listed } = await store.list({ prefix: `storm/${chat}/~/`, limit: 1_000 })
      const loaded = await load(listed.map(({ id }) => id.replace("storm/", "")))
      for (const [name, record] of loaded) children.set(name, record)
    }
    return { records, children }
  } finally {
    await store.close()
  }
}

/** The rows of the database that explain a fault, for the folder of the storm. */
const tablesOf = async (url: string): Promise<object> => ({
  log: await queries(url, [
    `SELECT id, commits.* FROM troupe.commits JOIN troupe.chats ON chats.key = commits.chat ORDER BY id, commits.seq`
  ]),
  fences: await queries(url, [`SELECT * FROM troupe.fences WHERE key LIKE '%resume%' ORDER BY key`])
})

const toJson = (_: string, value: unknown): unknown =>
  value instanceof Map ? Object.fromEntries(value) : typeof value === "bigint" ? String(value) : value

/** The column of the next build says who has written an entry. Without a node of that build there is no such column. */
const entriesOf = async (url: string): Promise<string> => {
  const rows = await queries(url, [
    `SELECT to_jsonb(commits) ->> 'build' AS build, count(*) AS count FROM troupe.commits GROUP BY 1 ORDER BY 1`
  ])
  return rows.map(({ build, count }) => `${String(count)} of ${build === null ? "this" : "the next"} build`).join(", ")
}
