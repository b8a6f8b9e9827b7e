/** The figures of a cluster, and their limits. */
import type { Limit } from "../bounds.ts"

/** How a figure is made of its samples: the middle one, or the largest. */
type Choice = "median" | "worst"

/** The groups of figures, which the command line selects. */
export const groups = ["failures", "costs", "limited"] as const
export type Group = (typeof groups)[number]

/** One figure. `beside` is the name of the same work on one process. */
export interface ClusterLine {
  readonly group: Group
  readonly key: string
  readonly name: string
  readonly choice: Choice
  readonly limit: Limit
  readonly beside?: string
}

/** The leases of the clusters whose nodes fail, in milliseconds. */
export const leases = [1_500, 3_000, 5_000] as const

/** The bound and the aim of a failover, above the lease. */
const boundMs = 2_000
const aimMs = 1_000

const within = (leaseMs: number): Limit => ({ bound: leaseMs + boundMs, aim: leaseMs + aimMs })
const none: Limit = { bound: 0, aim: 0 }

/** All figures, in the order of the table. */
export const clusterLines: ReadonlyArray<ClusterLine> = [
  ...leases.map((leaseMs): ClusterLine => ({
    group: "failures",
    key: `kill ${leaseMs}`,
    name: `kill -9 to the first word elsewhere, a lease of ${leaseMs} ms, ms`,
    choice: "worst",
    limit: within(leaseMs),
    beside: "alone restart"
  })),
  { group: "failures", key: "kill wrong", name: "the same, inputs lost or doubled", choice: "worst", limit: none },
  ...leases.map((leaseMs): ClusterLine => ({
    group: "failures",
    key: `freeze ${leaseMs}`,
    name: `SIGSTOP to the first word elsewhere, a lease of ${leaseMs} ms, ms`,
    choice: "worst",
    limit: within(leaseMs)
  })),
  {
    group: "failures",
    key: "freeze wrong",
    name: "the same, inputs lost, tables that the wake changed",
    choice: "worst",
    limit: none
  },
  {
    group: "failures",
    key: "term",
    name: "SIGTERM to the first word elsewhere, ms",
    choice: "worst",
    limit: { bound: 600, aim: 600 }
  },
  { group: "failures", key: "term wrong", name: "the same, inputs lost or doubled", choice: "worst", limit: none },
  {
    group: "costs",
    key: "first token",
    name: "first token through a gateway, to direct",
    choice: "median",
    limit: { bound: 3, aim: 3 },
    beside: "alone first token"
  },
  {
    group: "costs",
    key: "token",
    name: "processor time of a token through a gateway, to direct",
    choice: "median",
    limit: { bound: 2, aim: 2 },
    beside: "alone token"
  },
  {
    group: "costs",
    key: "turn",
    name: "processor time of a turn with two homes, to one",
    choice: "median",
    limit: { bound: 1.15, aim: 1.15 },
    beside: "alone turn"
  },
  {
    group: "limited",
    key: "limited",
    name: "turns a second of two homes, to one; a fifth of a core each",
    choice: "median",
    limit: { bound: 1.8, aim: 1.8, isLeast: true }
  },
  {
    group: "costs",
    key: "idle",
    name: "heap of a gateway for an idle chat elsewhere, kB",
    choice: "median",
    limit: { bound: 0.3, aim: 0.3 }
  }
]
