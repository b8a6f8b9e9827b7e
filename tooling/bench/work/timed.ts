/** What a contender costs, measured in its own process. */
import { setImmediate as nextTurn } from "node:timers/promises"
import { getHeapStatistics } from "node:v8"

type Time = "cpuMs" | "mainMs" | "restedMs" | "turnMs" | "earlyTurnMs"
type Count = "failed" | "processes" | "promises"

/**
 * - `cpuMs`: processor time of all threads, with the collection of garbage; `mainMs`: that of the main thread alone
 * - `restedMs`: `cpuMs` of work that begins after a rest, in which the heap was collected
 * - `turnMs`: the time of a turn; `earlyTurnMs`: that of a turn in a short chat
 * - `peakMb`: the peak of the heap above the heap before, with garbage that is not collected yet
 * - `allocatedKb`: everything that was allocated, a chat
 * - `failed`: the number of chats with a turn that failed
 * - the others: exact counts of one chat
 */
export type Quantity = Time | Count | "peakMb" | "allocatedKb"

/** The measured quantities of one contender. */
export type Costs = Readonly<Partial<Record<Quantity, number>>>

const warmRounds = 4
const measuredRounds = 3
const sampleMs = 5

/** The middle one of the sorted values; not a number when there is none. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

/** Collects garbage: all of it, or the young objects only. */
export const collect = (type: "major" | "minor" = "major"): void => {
  const { gc } = globalThis as { readonly gc?: (options: { readonly type: string }) => void }
  if (gc === undefined) throw new Error("run node with --expose-gc")
  gc({ type })
}

/** Bytes in use on the heap. */
export const heap = (): number => getHeapStatistics().used_heap_size

/** Lets work that was put off run. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await nextTurn()
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000

/** The processor time of the work. */
export const processorTime = async (work: () => Promise<void>): Promise<Record<"cpuMs" | "mainMs", number>> => {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  await work()
  return { mainMs: milliseconds(process.threadCpuUsage(main)), cpuMs: milliseconds(process.cpuUsage(all)) }
}

/** The processor time of the work after a rest, in which the heap is collected, and the peak of the heap above the heap before. */
export const afterRest = async (work: () => Promise<void>): Promise<Costs> => {
  await settle()
  collect()
  const before = heap()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, heap())), sampleMs)
  const time = await processorTime(work)
  clearInterval(sampling)
  return { ...time, peakMb: (Math.max(peak, heap()) - before) / 1e6 }
}

/** The round with the median of the processor time. */
const middle = async (measure: () => Promise<Costs>): Promise<Costs> => {
  const rounds: Array<Costs> = []
  for (let round = 0; round < measuredRounds; round++) rounds.push(await measure())
  return rounds.toSorted((one, other) => (one.cpuMs ?? 0) - (other.cpuMs ?? 0))[measuredRounds >> 1] ?? {}
}

/**
 * Does the work to get warm, then without a rest between the rounds, then after a rest each.
 *
 * When no chat runs, a collection discards the layouts of the objects of chats, and with them the optimized code: the next chats
 * pay for compiling it again.
 */
export const timed = async (work: () => Promise<void>): Promise<Costs> => {
  for (let round = 0; round < warmRounds; round++) await work()
  const time = await middle(() => processorTime(work))
  const { cpuMs: restedMs = NaN, peakMb = NaN } = await middle(() => afterRest(work))
  return { ...time, restedMs, peakMb }
}
