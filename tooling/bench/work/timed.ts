/** What a contender costs, measured in its own process. */
import { setImmediate as nextTurn } from "node:timers/promises"
import { getHeapStatistics } from "node:v8"

/**
 * - `cpuMs`: processor time of all threads, with the collection of garbage; the median of three
 * - `peakMb`: the peak of the heap above the heap before, with garbage that is not collected yet
 * - `allocatedKb`: everything that was allocated, a chat
 * - the others: exact counts of one chat
 */
export type Quantity = "cpuMs" | "peakMb" | "allocatedKb" | "processes" | "actors" | "promises"

/** The measured quantities of one contender. */
export type Costs = Readonly<Partial<Record<Quantity, number>>>

const warmRounds = 2
const measuredRounds = 3
const sampleMs = 5

/** Collects garbage. */
export const collect = (): void => {
  const { gc } = globalThis as { readonly gc?: () => void }
  if (gc === undefined) throw new Error("run node with --expose-gc")
  gc()
}

/** Bytes in use on the heap. */
export const heap = (): number => getHeapStatistics().used_heap_size

/** Lets work that was put off run. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await nextTurn()
}

/** The processor time of the work, in milliseconds. */
export const processorTime = async (work: () => Promise<void>): Promise<number> => {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** The peak of the heap during the work, above the heap before, in MB. */
const peakOf = async (work: () => Promise<void>): Promise<number> => {
  await settle()
  collect()
  const before = heap()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, heap())), sampleMs)
  await work()
  clearInterval(sampling)
  return (Math.max(peak, heap()) - before) / 1e6
}

/**
 * Does the warm work, then the work: once for the peak of the heap, then three times for the processor time.
 *
 * The heap is collected before the peak only. When no chat runs, a collection discards the layouts of the objects of chats,
 * and with them the optimized code: the next chats would pay for compiling it again, which a server under load never does.
 */
export const timed = async (work: () => Promise<void>, warm = work): Promise<Costs> => {
  for (let round = 0; round < warmRounds; round++) await warm()
  const peakMb = await peakOf(work)
  for (let round = 0; round < warmRounds; round++) await warm()
  const times: Array<number> = []
  for (let round = 0; round < measuredRounds; round++) times.push(await processorTime(work))
  return { cpuMs: times.toSorted((a, b) => a - b)[measuredRounds >> 1] ?? NaN, peakMb }
}
