/** One storm: nodes, clients and faults, and then the comparison of the history with the database. */
import { join } from "node:path"
import type { Conversation } from "@troupe/chat/store"
import { postgres } from "@troupe/store"
import { chanceOf } from "../soak/chance.ts"
import { checked, type Kept, recoveries } from "./checker.ts"
import { StormClient } from "./clients.ts"
import { storm } from "./faults.ts"
import { Fleet } from "./fleet.ts"
import { History, type Line, linesOf } from "./history.ts"
import { keepLedger, ledgerOf } from "./ledger.ts"

/** The options of a storm. `folder` gets the history and the journal of the tool. */
export interface StormOptions {
  readonly url: string
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
  /** The longest time from the last fault to the first answer of a chat, in milliseconds. */
  readonly recoveredMs: number
}

/** Runs one storm on an empty database. */
export const runStorm = async (options: StormOptions): Promise<Stormed> => {
  const { url, folder, seed, minutes, leaseMs, chats } = options
  const history = new History(join(folder, "history.jsonl"))
  const journal = join(folder, "journal.jsonl")
  const fleet = new Fleet(history, { url, leaseMs, journal, secret: `the secret of storm ${seed}` })
  await keepLedger(url)
  try {
    await Promise.all([fleet.join("home"), fleet.join("home"), fleet.join("home"), fleet.join("gateway")])
    let isOver = false
    const clients = Array.from(
      { length: chats },
      (_, index) => new StormClient(`c${index + 1}`, fleet, history, chanceOf(seed * 1_009 + index))
    )
    const leaving = clients.map((client) => client.read())
    const running = clients.map((client) => client.run({ isOver: () => isOver }))
    const faults = await storm(fleet, { chance: chanceOf(seed), leaseMs, until: Date.now() + minutes * 60_000 })
    isOver = true
    await Promise.all(running)
    for (const leave of leaving) leave()
    await Promise.all(fleet.running.map((node) => fleet.term(node)))
    const lines = history.lines()
    const calls = linesOf(journal) as Kept["journal"]
    const kept = { records: await recordsOf(url, clients), ledger: await ledgerOf(url), journal: calls }
    const recoveredMs = Math.max(0, ...recoveries(beforeTheEnd(lines)).values())
    return { wrong: checked(beforeTheEnd(lines), kept, { leaseMs }), lines, faults, calls: calls.length, recoveredMs }
  } finally {
    for (const { child } of fleet.running) child?.kill("SIGKILL")
  }
}

/** The lines without the SIGTERM that ends each node at the end of the storm, which is no fault. */
const beforeTheEnd = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const last = lines.findLastIndex(({ type }) => type === "answered")
  return lines.filter((line, index) => index <= last || line.type !== "node" || line.event !== "term")
}

const recordsOf = async (
  url: string,
  clients: ReadonlyArray<StormClient>
): Promise<ReadonlyMap<string, Conversation>> => {
  const store = postgres(url)
  const records = new Map<string, Conversation>()
  for (const { chat } of clients) {
    const record = await store.load(`storm/${chat}`)
    if (record !== undefined) records.set(chat, record)
  }
  await store.close()
  return records
}
