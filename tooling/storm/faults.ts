/** The faults of a storm, chosen by its seed. */
import { setTimeout } from "node:timers/promises"
import { type Chance, pick } from "../soak/chance.ts"
import type { Fleet, FleetNode } from "./fleet.ts"
import { database } from "./network.ts"

type Fault = (fleet: Fleet, node: FleetNode, chance: Chance, leaseMs: number) => Promise<void>

/** How many homes a storm has at most and at least. */
const mostHomes = 4
const fewestHomes = 2

const kill: Fault = async (fleet, node, chance, leaseMs) => {
  const pauseMs = chance() * 1.5 * leaseMs
  await fleet.kill(node)
  await setTimeout(pauseMs)
  await fleet.start(node)
}

const term: Fault = async (fleet, node, chance) => {
  const pauseMs = chance() * 1_000
  await fleet.term(node)
  await setTimeout(pauseMs)
  await fleet.start(node)
}

/** A deployment: the node stops, and starts with this build or the next one. */
const deploy: Fault = async (fleet, node) => {
  await fleet.term(node)
  node.build = node.build === "this" ? "next" : "this"
  await fleet.start(node)
}

const freeze: Fault = async (fleet, node, chance, leaseMs) => {
  const pauseMs = (1.2 + chance() * 1.3) * leaseMs
  fleet.freeze(node)
  await setTimeout(pauseMs)
  fleet.wake(node)
}

/** A new home joins; when there are many, one of the others leaves for good. */
const join: Fault = async (fleet, node) => {
  await fleet.join("home")
  if (homesOf(fleet).length > mostHomes && node.role === "home") await fleet.term(node)
}

/**
 * A partition: no byte passes, and the connections survive it or not; or they are reset. A connection to PostgreSQL is never
 * lost for good, as a store waits for its answer longer than a storm lets a chat wait.
 */
const cutFrom =
  (othersOf: (fleet: Fleet, node: FleetNode) => ReadonlyArray<string>): Fault =>
  async (fleet, node, chance, leaseMs) => {
    const kind = pick(chance, ["silent", "silent", "cut"] as const)
    const ms = (0.3 + chance() * 1.7) * leaseMs
    const [first, ...others] = othersOf(fleet, node)
    if (first === undefined) return
    const other = pick(chance, [first, ...others])
    const before = pick(
      chance,
      other === database ? (["kept", "reset"] as const) : (["kept", "reset", "lost"] as const)
    )
    await fleet.cut(node, other, { kind, ms, before })
  }

const namesOf = (fleet: Fleet, node: FleetNode, role: FleetNode["role"]): ReadonlyArray<string> =>
  fleet.running.filter((other) => other !== node && other.role === role).map(({ name }) => name)

const faults = {
  kill,
  term,
  freeze,
  join,
  deploy,
  "cut from PostgreSQL": cutFrom(() => [database]),
  "cut from a home": cutFrom((fleet, node) => namesOf(fleet, node, "home")),
  "cut from a gateway": cutFrom((fleet, node) => namesOf(fleet, node, node.role === "home" ? "gateway" : "home")),
  "restart of PostgreSQL": (fleet) => fleet.restartPostgres(),
  "other protocol": (fleet) => fleet.startOther()
} as const satisfies Readonly<Record<string, Fault>>

type FaultName = keyof typeof faults

/** How often each fault comes in one round. */
const round: Readonly<Record<FaultName, number>> = {
  kill: 3,
  term: 2,
  freeze: 2,
  join: 1,
  deploy: 2,
  "cut from PostgreSQL": 2,
  "cut from a home": 1,
  "cut from a gateway": 1,
  "restart of PostgreSQL": 1,
  "other protocol": 1
}

/** Rounds of faults, each in an order of its own. */
function* rounds(fleet: Fleet, chance: Chance): Generator<FaultName, never> {
  const all = (Object.keys(faults) as ReadonlyArray<FaultName>)
    .filter((name) => name !== "restart of PostgreSQL" || fleet.canRestart)
    .flatMap((name) => Array.from({ length: round[name] }, () => name))
  for (;;) {
    const ordered = all.map((name) => ({ name, place: chance() })).toSorted((one, other) => one.place - other.place)
    for (const { name } of ordered) yield name
  }
}

const homesOf = (fleet: Fleet): ReadonlyArray<FleetNode> => fleet.running.filter(({ role }) => role === "home")

/** Makes faults until a time, at most two at once. Resolves when the last one is over; counts them by name. */
export const storm = async (
  fleet: Fleet,
  { chance, leaseMs, until }: { readonly chance: Chance; readonly leaseMs: number; readonly until: number }
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const next = rounds(fleet, chance)
  while (Date.now() < until) {
    await setTimeout(500 + chance() * 2_500)
    if (running.size >= 2) await Promise.race(running)
    if (homesOf(fleet).length < fewestHomes) continue
    const name = next.next().value
    // Only a home of the next build writes its column.
    const able = name === "deploy" ? homesOf(fleet) : fleet.running
    const [first, ...others] = able.filter(({ isBusy }) => !isBusy)
    if (first === undefined) continue
    const node = pick(chance, [first, ...others])
    counts.set(name, (counts.get(name) ?? 0) + 1)
    node.isBusy = true
    const fault = faults[name](fleet, node, chance, leaseMs).finally(() => {
      node.isBusy = false
      running.delete(fault)
    })
    running.add(fault)
  }
  await Promise.all(running)
  return counts
}
