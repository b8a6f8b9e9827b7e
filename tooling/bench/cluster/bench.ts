/**
 * What many machines cost and how they fail over: real processes on this machine, with a PostgreSQL of their own.
 *
 * The nodes run the built packages. Their clients are this process.
 */
import { Samples } from "../rounds.ts"
import { isGood, show, tableOf } from "../table.ts"
import { firstTokenMs, idleKb, inParts, tokenUs, turnMs, turnsPerSecond } from "./costs.ts"
import { ended, type Failure, frozen, restarted } from "./failover.ts"
import { cycleMs, limit } from "./limited.ts"
import { clusterLines, clusterRows, type Group, leases } from "./lines.ts"
import { type BenchCluster, type Nodes, openNodes, wayTo } from "./nodes.ts"

/** What a measurement needs: it adds the samples of so many rounds. */
interface Bench {
  readonly nodes: Nodes
  readonly samples: Samples
  readonly rounds: ReadonlyArray<number>
  readonly report: (line: string) => void
}

/** The failures of a home: the key of the word elsewhere, that of the wrong things, the name in the report. */
const failures: ReadonlyArray<
  readonly [(leaseMs: number) => string, string, string, (cluster: BenchCluster, leaseMs: number) => Promise<Failure>]
> = [
  [(leaseMs) => `kill ${leaseMs}`, "kill wrong", "kill", (cluster) => ended(cluster, "SIGKILL")],
  [(leaseMs) => `freeze ${leaseMs}`, "freeze wrong", "freeze", frozen],
  [() => "term", "term wrong", "SIGTERM", (cluster) => ended(cluster, "SIGTERM")]
]

/** The failures of the first home of a cluster, for each lease. */
const measureFailures = async ({ nodes, samples, rounds, report }: Bench): Promise<void> => {
  for (const leaseMs of leases) {
    const cluster = await nodes.cluster(2, leaseMs)
    for (const round of rounds) {
      const words: Array<string> = []
      for (const [keyOf, wrongKey, name, fail] of failures) {
        const { firstWordMs, lateMs, wrong } = await fail(cluster, leaseMs)
        samples.add(keyOf(leaseMs), firstWordMs)
        samples.add(wrongKey, wrong)
        words.push(`${name} ${show(firstWordMs)} ms, ${wrong} wrong, late by ${show(lateMs)} ms`)
      }
      report(`round ${round}, lease ${leaseMs}: ${words.join("; ")}`)
    }
    await nodes.close()
  }
  const alone = await nodes.alone()
  for (const _ of rounds) samples.add("alone restart", await restarted(alone))
  await nodes.close()
}

/** How many conversations each client has before the first measured one: the processes compile their code. */
const warmConversations = 16

/** The clusters of the costs have the default lease. */
const leaseMs = 5_000

/** What work costs on one process, on one home and on two. */
const measureCosts = async ({ nodes, samples, rounds, report }: Bench): Promise<void> => {
  const one = await nodes.cluster(1, leaseMs)
  const two = await nodes.cluster(2, leaseMs)
  const alone = wayTo(await nodes.alone())
  const direct = wayTo(one.homes[0] ?? one.gateway)
  const ways = [direct, one, alone]
  /** Adds the ratio of each later value to the first one under its key. */
  const compare = ([base = NaN, ...others]: ReadonlyArray<number>, keys: ReadonlyArray<string>): void =>
    others.forEach((value, index) => samples.add(keys[index] ?? "", value / base))
  for (const way of [one, two, alone]) await turnMs(way, warmConversations)
  // Turns are measured first: until then, each home has done the same work.
  for (const round of rounds) {
    const turns = await inParts(
      8,
      [one, two, alone].map((way) => () => turnMs(way))
    )
    compare(turns, ["turn", "alone turn"])
    report(`round ${round}: a turn ${list(turns)} ms (one home, two, one process)`)
  }
  for (const way of ways) await tokenUs(way)
  for (const round of rounds) {
    const firsts = await firstTokenMs(ways)
    compare(firsts, ["first token", "alone first token"])
    report(`round ${round}: first token ${list(firsts)} ms (direct, forwarded, one process)`)
    const tokens = await inParts(
      3,
      ways.map((way) => () => tokenUs(way))
    )
    compare(tokens, ["token", "alone token"])
    report(`round ${round}: a token ${list(tokens)} µs (direct, forwarded, one process)`)
    const idle = await idleKb(one)
    samples.add("idle", idle)
    report(`round ${round}: an idle chat ${show(idle)} kB`)
  }
  await nodes.close()
}

const list = (values: ReadonlyArray<number>): string => values.map(show).join(", ")

/** The turns a second of homes that have a part of a processor each. */
const measureLimited = async ({ nodes, samples, rounds, report }: Bench): Promise<void> => {
  const one = await nodes.cluster(1, leaseMs)
  const two = await nodes.cluster(2, leaseMs)
  for (const way of [one, two]) await turnMs(way, warmConversations)
  report(`limited by signals, in cycles of ${cycleMs} ms`)
  const rate = async ({ gateway, homes }: BenchCluster): Promise<number> => {
    const release = limit(homes.map(({ pid }) => pid))
    try {
      return await turnsPerSecond(gateway)
    } finally {
      release()
    }
  }
  for (const round of rounds) {
    const rates = await inParts(3, [() => rate(one), () => rate(two)])
    const [ofOne = NaN, ofTwo = NaN] = rates
    samples.add("limited", ofTwo / ofOne)
    report(`round ${round}: ${list(rates)} turns a second (one limited home, two)`)
  }
  await nodes.close()
}

const measures: Readonly<Record<Group, typeof measureCosts>> = {
  failures: measureFailures,
  costs: measureCosts,
  limited: measureLimited
}

/** Measures the figures of these groups, prints the table, and returns whether none is beyond its bound. */
export const benchCluster = async (
  chosen: ReadonlyArray<Group>,
  rounds: number,
  report: Bench["report"]
): Promise<boolean> => {
  const begun = performance.now()
  report("packing the packages")
  await using nodes = await openNodes()
  const samples = new Samples()
  const all = Array.from({ length: rounds }, (_, index) => index + 1)
  for (const group of chosen) await measures[group]({ nodes, samples, rounds: all, report })
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
  const shown = clusterLines.filter(({ group }) => chosen.includes(group))
  const rows = clusterRows(samples, shown)
  console.log(`\ncluster: ${rounds} rounds, ${minutes} minutes; times of failures are the worst, others medians\n`)
  for (const row of tableOf(rows, "one process")) console.log(row)
  console.log(
    "\nFAILS: beyond the bound. An aim is no condition. One process: its own time, or its cost to direct or to one home."
  )
  return isGood(rows)
}
