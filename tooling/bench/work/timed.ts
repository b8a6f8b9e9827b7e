/** What a contender costs, measured in its own process. */
import { setImmediate as nextTurn } from "node:timers/promises"
import { getHeapStatistics } from "node:v8"

/**
 * - `cpuMs`: processor time of all threads, with the collection of garbage
 * - `peakMb`: the peak of the heap above the heap before, with garbage that is not collected yet
 * - `allocatedKb`: everything that was allocated, a chat
 * - the others: exact counts of one chat
 */
export type Quantity = "cpuMs" | "peakMb" | "allocatedKb" | "processes" | "actors" | "promises"

/** The measured quantities of one contender. */
export type Costs = Readonly<Partial<Record<Quantity, number>>>

const warmRounds = 2
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

/** Does the warm work twice, then the work once, measured. */
export const timed = async (work: () => Promise<void>, warm = work): Promise<Costs> => {
  for (let round = 0; round < warmRounds; round++) await warm()
  await settle()
  collect()
  const before = heap()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, heap())), sampleMs)
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  clearInterval(sampling)
  return { cpuMs: (user + system) / 1_000, peakMb: (Math.max(peak, heap()) - before) / 1e6 }
}
