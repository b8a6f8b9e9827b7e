/**
 * The cost of processes, compared with the bare primitives of Effect and with plain objects, in the same run.
 *
 * A figure is the processor time of all threads, including garbage collection, and the best of the rounds, or the bytes that stay, and
 * their median. The rounds alternate among the contestants; the first ones warm up. The BEAM's column is measured in the same run if
 * Elixir is installed, and else recorded. Before a timed round the young objects are collected, so that the round does not pay for
 * those of its preparation and of other contestants. A full collection would drop compiled code too.
 */
import { collect, heap, median, processorTime, settle } from "../work/timed.ts"
import { findBeam } from "./beam.ts"
import type { Contestant } from "./contest.ts"
import { fibers } from "./fibers.ts"
import { aim, lines } from "./lines.ts"
import type { BenchLine } from "./lines.ts"
import { objects } from "./objects.ts"
import { processes } from "./processes.ts"
import { verdictOf } from "../table.ts"

const rounds = 10
const warmUps = 5
const contestants: ReadonlyArray<Contestant> = [processes, fibers, objects]

/** The bytes in use after a collection. */
const kept = async (): Promise<number> => {
  await settle()
  collect()
  collect()
  return heap()
}

/** Collects the young objects of the preparation and of others. Those that live on are old after the second time. */
const rested = (): number => {
  collect("minor")
  collect("minor")
  return 0
}

/** The cost of one operation: microseconds of the processor, or bytes kept. */
const costOf = async (contestant: Contestant, { key, count, unit }: BenchLine): Promise<number> => {
  const round = await contestant[key](count)
  const before = unit === "bytes" ? await kept() : rested()
  const microseconds = (await processorTime(async () => round.run())).cpuMs * 1_000
  const cost = unit === "bytes" ? (await kept()) - before : microseconds
  await round.end()
  return cost / count
}

const compare = async (line: BenchLine): Promise<ReadonlyArray<number>> => {
  const costs = contestants.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contestant] of contestants.entries()) {
      const cost = await costOf(contestant, line)
      if (round >= warmUps) costs[index]?.push(cost)
    }
  }
  return costs.map((all) => (line.unit === "bytes" ? median(all) : Math.min(...all)))
}

const show = (value: number, unit: BenchLine["unit"]): string =>
  unit === "bytes" ? `${value.toFixed(0)} B` : `${value.toFixed(value < 0.1 ? 3 : 2)} µs`

const row = (name: string, ...figures: ReadonlyArray<string>): void =>
  console.log(name.padEnd(38) + figures.map((figure) => figure.padStart(12)).join(""))

/** Measures the lines with these keys, or all, and prints the table; returns whether each is within its bound. */
export const benchProcesses = async (keys: ReadonlyArray<string>): Promise<boolean> => {
  let failed = 0
  console.log("\nprocesses: what one operation costs, in one run; ratios are ours ÷ theirs\n")
  row("", "ours", "effect", "plain", "BEAM", "÷ effect", "÷ plain", "÷ BEAM", "")
  const { source, costOf: beamCostOf } = await findBeam(rounds, warmUps)
  const chosen = lines.filter(({ key }) => keys.length === 0 || keys.includes(key))
  for (const line of chosen) {
    const [ours = 0, effect = 0, plain = 0] = await compare(line)
    const beam = await beamCostOf(line)
    const share = beam === undefined ? undefined : ours / beam
    const verdict = share === undefined ? "" : verdictOf(share, { bound: line.bound, aim: Math.min(aim, line.bound) })
    if (verdict === "FAILS") failed++
    const costs = [ours, effect, plain].map((cost) => show(cost, line.unit))
    const ratios = [(ours / effect).toFixed(2), (ours / plain).toFixed(2), share?.toFixed(2) ?? "–"]
    row(line.name, ...costs, beam === undefined ? "–" : show(beam, line.unit), ...ratios, verdict)
  }
  console.log(`
µs: processor time, all threads and the collection of garbage included; the best of ${rounds - warmUps} rounds, after ${warmUps} to warm up.
B: bytes of the heap that stay, after a collection of garbage; the median of these rounds.
BEAM: ${source}.
÷ BEAM: ours as a part of the BEAM's; the aim is at most ${aim}, and FAILS is beyond the line's bound.
`)
  for (const { name, means } of chosen) console.log(`${name.padEnd(38)}${means}`)
  return failed === 0
}
