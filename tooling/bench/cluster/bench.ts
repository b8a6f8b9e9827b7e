/**
 * What many machines cost and how they fail over: real processes on this machine, with a PostgreSQL of their own.
 *
 * The nodes run the built packages. Their clients are this process.
 */
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { unpackNode } from "../built.ts"
import { show } from "../table.ts"
import { aloneTurnMs, firstTokenMs, idleKb, inParts, tokenUs, turnMs, turnsPerSecond } from "./costs.ts"
import { ended, frozen, restarted } from "./failover.ts"
import { limiterFor } from "./limited.ts"
import { clusterLines, type Group, leases } from "./lines.ts"
import { Nodes } from "./nodes.ts"
import { programFiles } from "./process.ts"
import { clusterTable, isClusterGood, Samples } from "./table.ts"

type Report = (line: string) => void

/** The failures of the first home of a cluster, for each lease. */
const measureFailures = async (nodes: Nodes, samples: Samples, rounds: number, report: Report): Promise<void> => {
  for (const leaseMs of leases) {
    const cluster = await nodes.cluster({ homes: 2, leaseMs })
    for (let round = 1; round <= rounds; round++) {
      const killed = await ended(cluster, "SIGKILL")
      samples.add(`kill ${leaseMs}`, killed.firstWordMs)
      samples.add("kill wrong", killed.wrong)
      const woken = await frozen(cluster, leaseMs)
      samples.add(`freeze ${leaseMs}`, woken.firstWordMs)
      samples.add("freeze wrong", woken.wrong)
      const stopped = await ended(cluster, "SIGTERM")
      samples.add("term", stopped.firstWordMs)
      samples.add("term wrong", stopped.wrong)
      const words = [killed, woken, stopped].map(
        ({ firstWordMs, lateMs, wrong }) => `${show(firstWordMs)} ms, ${wrong} wrong, late by ${show(lateMs)} ms`
      )
      report(`round ${round}, lease ${leaseMs}: kill ${words[0]}; freeze ${words[1]}; SIGTERM ${words[2]}`)
    }
    await nodes.close()
  }
  const alone = await nodes.alone()
  for (let round = 1; round <= rounds; round++) samples.add("alone restart", await restarted(alone))
  await nodes.close()
}

/** How many conversations each client has before the first measured one: the processes compile their code. */
const warmConversations = 16

/** The clusters of the costs have the default lease. */
const leaseMs = 5_000

/** What work costs on one process, on one home and on two. */
const measureCosts = async (nodes: Nodes, samples: Samples, rounds: number, report: Report): Promise<void> => {
  const one = await nodes.cluster({ homes: 1, leaseMs })
  const two = await nodes.cluster({ homes: 2, leaseMs })
  const alone = await nodes.alone()
  const [home = alone] = one.homes
  const direct = { through: home, home }
  const forwarded = { through: one.gateway, home }
  const single = { through: alone, home: alone }
  await turnMs(one, warmConversations)
  await turnMs(two, warmConversations)
  await aloneTurnMs(alone, warmConversations)
  // Turns are measured first: until then, each home has done the same work.
  for (let round = 1; round <= rounds; round++) {
    const turns = await inParts(8, [() => turnMs(one), () => turnMs(two), () => aloneTurnMs(alone)])
    const [oneMs = NaN, twoMs = NaN, aloneMs = NaN] = turns
    samples.add("turn", twoMs / oneMs)
    samples.add("alone turn", aloneMs / oneMs)
    report(`round ${round}: a turn ${list(...turns)} ms (one home, two, one process)`)
  }
  const ways = [direct, forwarded, single]
  for (const way of ways) await tokenUs(way)
  for (let round = 1; round <= rounds; round++) {
    const [directMs = NaN, forwardedMs = NaN, singleMs = NaN] = await firstTokenMs(ways)
    samples.add("first token", forwardedMs / directMs)
    samples.add("alone first token", singleMs / directMs)
    report(`round ${round}: first token ${list(directMs, forwardedMs, singleMs)} ms (direct, forwarded, one process)`)
    const tokens = await inParts(
      3,
      ways.map((way) => () => tokenUs(way))
    )
    const [directUs = NaN, forwardedUs = NaN, singleUs = NaN] = tokens
    samples.add("token", forwardedUs / directUs)
    samples.add("alone token", singleUs / directUs)
    report(`round ${round}: a token ${list(...tokens)} µs (direct, forwarded, one process)`)
    const idle = await idleKb(one)
    samples.add("idle", idle)
    report(`round ${round}: an idle chat ${show(idle)} kB`)
  }
  await nodes.close()
}

const list = (...values: ReadonlyArray<number>): string => values.map(show).join(", ")

/** The turns a second of homes that have a part of a processor each. */
const measureLimited = async (nodes: Nodes, samples: Samples, rounds: number, report: Report): Promise<void> => {
  const one = await nodes.cluster({ homes: 1, leaseMs })
  const two = await nodes.cluster({ homes: 2, leaseMs })
  await turnMs(one, warmConversations)
  await turnMs(two, warmConversations)
  const { name, limit } = limiterFor(one.gateway.pid)
  report(`limited by ${name}`)
  for (let round = 1; round <= rounds; round++) {
    const rates = await inParts(
      3,
      [one, two].map(({ gateway, homes }) => async () => {
        const release = limit(homes.map(({ pid }) => pid))
        try {
          return await turnsPerSecond(gateway)
        } finally {
          release()
        }
      })
    )
    const [ofOne = NaN, ofTwo = NaN] = rates
    samples.add("limited", ofTwo / ofOne)
    report(`round ${round}: ${list(...rates)} turns a second (one limited home, two)`)
  }
  await nodes.close()
}

const measures: Readonly<Record<Group, typeof measureCosts>> = {
  failures: measureFailures,
  costs: measureCosts,
  limited: measureLimited
}

/** Measures the figures of these groups, prints the table, and returns whether none is beyond its bound. */
export const benchCluster = async (chosen: ReadonlyArray<Group>, rounds: number, report: Report): Promise<boolean> => {
  const begun = performance.now()
  report("packing the packages")
  const built = await unpackNode(new URL("node.ts", import.meta.url), programFiles)
  const server = await startPostgres()
  const nodes = new Nodes(server.url, built.folder)
  const samples = new Samples()
  try {
    for (const group of chosen) await measures[group](nodes, samples, rounds, report)
  } finally {
    await nodes.close()
    await server.stop()
    built.remove()
  }
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
  const shown = clusterLines.filter(({ group }) => chosen.includes(group))
  console.log(`\ncluster: ${rounds} rounds, ${minutes} minutes; times of failures are the worst, others medians\n`)
  for (const row of clusterTable(samples, shown)) console.log(row)
  console.log(
    "\nFAILS: beyond the bound. An aim is no condition. One process: its own time, or its cost to direct or to one home."
  )
  return isClusterGood(samples, shown)
}
