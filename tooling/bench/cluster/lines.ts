/** The figures of a cluster, and their limits. */
import type { Samples } from "../rounds.ts"
import { type Limit, type Row, show } from "../table.ts"

/** The groups of figures, which the command line selects. */
export const groups = ["failures", "costs", "limited"] as const
export type Group = (typeof groups)[number]

/** One figure: the median of its samples, or the worst one of a failure. `beside` is the key of the same work on one process. */
export interface ClusterLine {
  readonly group: Group
  readonly key: string
  readonly name: string
  readonly limit: Limit
  readonly beside: string | undefined
}

/** The leases of the clusters whose nodes fail, in milliseconds. */
export const leases = [1_500, 3_000, 5_000] as const

/** The bound and the aim of a failover, above the lease. */
const boundMs = 2_000
const aimMs = 1_000

const within = (leaseMs: number): Limit => ({ bound: leaseMs + boundMs, aim: leaseMs + aimMs })
const atMost = (bound: number): Limit => ({ bound, aim: bound })
const line = (group: Group, key: string, name: string, limit: Limit, beside?: string): ClusterLine => ({
  group,
  key,
  name,
  limit,
  beside
})
const failure = line.bind(undefined, "failures")
const cost = line.bind(undefined, "costs")
const lost = "the same, inputs lost or doubled"
const lostOrChanged = "the same, inputs lost, tables that the wake changed"
const twoHomes = "turns a second of two homes, to one; a fifth of a core each"
const elsewhere = (signal: string, leaseMs: number): string =>
  `${signal} to the first word elsewhere, a lease of ${leaseMs} ms, ms`

/** All figures, in the order of the table. */
export const clusterLines: ReadonlyArray<ClusterLine> = [
  ...leases.map((ms) => failure(`kill ${ms}`, elsewhere("kill -9", ms), within(ms), "alone restart")),
  failure("kill wrong", lost, atMost(0)),
  ...leases.map((ms) => failure(`freeze ${ms}`, elsewhere("SIGSTOP", ms), within(ms))),
  failure("freeze wrong", lostOrChanged, atMost(0)),
  failure("term", "SIGTERM to the first word elsewhere, ms", atMost(600)),
  failure("term wrong", lost, atMost(0)),
  cost("first token", "first token through a gateway, to direct", atMost(3), "alone first token"),
  cost("token", "processor time of a token through a gateway, to direct", atMost(2), "alone token"),
  cost("turn", "processor time of a turn with two homes, to one", atMost(1.15), "alone turn"),
  line("limited", "limited", twoHomes, { ...atMost(1.8), isLeast: true }),
  cost("idle", "heap of a gateway for an idle chat elsewhere, kB", atMost(0.3))
]

/** The rows of the table: medians, and of the time of a failure the worst one. */
export const clusterRows = (samples: Samples, chosen = clusterLines): ReadonlyArray<Row> =>
  chosen.map(({ group, key, name, limit, beside }) => ({
    name,
    limit,
    measured: group === "failures" ? samples.worst(key) : samples.median(key),
    beside: beside === undefined ? "" : show(samples.median(beside))
  }))
