/** The faults of a storm, chosen by its seed. */
import { setTimeout } from "node:timers/promises"
import { type Chance, pick } from "../soak/chance.ts"
import type { Fleet, FleetNode } from "./fleet.ts"

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

const faults = { kill, term, freeze, join } as const

const homesOf = (fleet: Fleet): ReadonlyArray<FleetNode> => fleet.running.filter(({ role }) => role === "home")

/** Makes faults until a time, at most two at once. Resolves when the last one is over; counts them by name. */
export const storm = async (
  fleet: Fleet,
  { chance, leaseMs, until }: { readonly chance: Chance; readonly leaseMs: number; readonly until: number }
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  const running = new Set<Promise<void>>()
  while (Date.now() < until) {
    await setTimeout(500 + chance() * 2_500)
    if (running.size >= 2) await Promise.race(running)
    const [first, ...others] = fleet.running.filter(({ isBusy }) => !isBusy)
    if (first === undefined || homesOf(fleet).length < fewestHomes) continue
    const node = pick(chance, [first, ...others])
    const name = pick(chance, ["kill", "kill", "kill", "term", "term", "freeze", "freeze", "join"] as const)
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
