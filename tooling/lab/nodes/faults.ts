/** The faults of a storm, chosen by its seed. */
import { setTimeout } from "node:timers/promises"
import { anyOf, type Chance, pick } from "../chance.ts"
import { Counts } from "../check/counts.ts"
import { database } from "../check/nodes.ts"
import type { Fleet, FleetNode, NodeOptions } from "./fleet.ts"
import type { Before } from "./network.ts"

type Fault = (fleet: Fleet, node: FleetNode, chance: Chance, leaseMs: number) => Promise<void>

/** How many homes a storm has at most and at least. */
const mostHomes = 4
const fewestHomes = 2

const homesOf = (fleet: Fleet): ReadonlyArray<FleetNode> =>
  fleet.running.filter(({ options }) => options.role === "home")

/**
 * A partition: no byte passes, and the connections survive it or not; or they are reset. A connection to PostgreSQL is never
 * lost for good, as a store waits for its answer longer than a storm lets a chat wait.
 */
const cutFrom =
  (roleOf: (role: NodeOptions["role"]) => NodeOptions["role"] | typeof database): Fault =>
  async (fleet, node, chance, leaseMs) => {
    const kind = pick(chance, ["silent", "silent", "cut"] as const)
    const ms = (0.3 + chance() * 1.7) * leaseMs
    const role = roleOf(node.options.role)
    const others = fleet.running.filter((other) => other !== node && other.options.role === role)
    const other = anyOf(chance, role === database ? [database] : others.map(({ options }) => options.name))
    if (other === undefined) return
    const before = pick<Before>(chance, other === database ? ["kept", "reset"] : ["kept", "reset", "lost"])
    await fleet.cut(node, other, kind, ms, before)
  }

/** A node ends, and starts again after a pause. */
const restarted =
  (event: "kill" | "term", longestMs: (leaseMs: number) => number): Fault =>
  async (fleet, node, chance, leaseMs) => {
    const pauseMs = chance() * longestMs(leaseMs)
    await fleet.end(node, event)
    await setTimeout(pauseMs)
    await fleet.start(node)
  }

const freeze: Fault = async (fleet, node, chance, leaseMs) => {
  fleet.signal(node, "stop")
  await setTimeout((1.2 + chance() * 1.3) * leaseMs)
  fleet.signal(node, "cont")
}

/** A home joins. When there are many homes, one of the others leaves for good. */
const join: Fault = async (fleet, node) => {
  await fleet.join("home")
  if (homesOf(fleet).length > mostHomes && node.options.role === "home") await fleet.end(node, "term")
}

/** The node stops, and starts with this build or the next one. */
const deploy: Fault = async (fleet, node) => {
  await fleet.end(node, "term")
  node.build = node.build === "this" ? "next" : "this"
  await fleet.start(node)
}

/** The faults, and how often each comes in one round. */
const faults: Readonly<Record<string, readonly [times: number, fault: Fault]>> = {
  kill: [3, restarted("kill", (leaseMs) => 1.5 * leaseMs)],
  term: [2, restarted("term", () => 1_000)],
  freeze: [2, freeze],
  join: [1, join],
  deploy: [2, deploy],
  "cut from PostgreSQL": [2, cutFrom(() => database)],
  "cut from a home": [1, cutFrom(() => "home")],
  "cut from a gateway": [1, cutFrom((role) => (role === "home" ? "gateway" : "home"))],
  "restart of PostgreSQL": [1, (fleet) => fleet.restartPostgres()],
  "other protocol": [1, (fleet) => fleet.startOther()]
}

/** Rounds of faults, each in an order of its own. */
function* rounds(fleet: Fleet, chance: Chance): Generator<readonly [name: string, fault: Fault], never> {
  const all = Object.entries(faults)
    .filter(([name]) => name !== "restart of PostgreSQL" || fleet.canRestart)
    .flatMap(([name, [times, fault]]) => Array.from({ length: times }, () => [name, fault] as const))
  for (;;) {
    const ordered = all.map((one) => [one, chance()] as const).toSorted(([, a], [, b]) => a - b)
    for (const [one] of ordered) yield one
  }
}

/** Makes faults until a time, at most two at once. Resolves when the last one is over; counts them by name. */
export const storm = async (fleet: Fleet, chance: Chance, leaseMs: number, until: number): Promise<Counts> => {
  const counts = new Counts()
  const running = new Set<Promise<void>>()
  const next = rounds(fleet, chance)
  while (Date.now() < until) {
    await setTimeout(500 + chance() * 2_500)
    if (running.size >= 2) await Promise.race(running)
    if (homesOf(fleet).length < fewestHomes) continue
    const [name, fault] = next.next().value
    // Only a home of the next build writes its column.
    const able = (name === "deploy" ? homesOf(fleet) : fleet.running).filter(({ isBusy }) => !isBusy)
    const node = anyOf(chance, able)
    if (node === undefined) continue
    counts.add(name)
    node.isBusy = true
    const made = fault(fleet, node, chance, leaseMs).finally(() => {
      node.isBusy = false
      running.delete(made)
    })
    running.add(made)
  }
  await Promise.all(running)
  return counts
}
