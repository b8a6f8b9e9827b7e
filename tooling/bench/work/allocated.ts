/**
 * The bytes that a chat allocates while it runs program A.
 *
 * The flags of its process make the young generation so large that no collection runs between the two readings of the heap. So the difference
 * is everything that was allocated.
 */
import { PerformanceObserver } from "node:perf_hooks"
import { plainChat } from "./plain.ts"
import { together } from "./programA.ts"
import { collect, type Costs, heap, settle } from "./timed.ts"
import { oneLiving, programA, streamEach, withTroupe } from "./troupe.ts"

const warmChats = 500
const measuredChats = 200

/** What one chat allocates, in kB. */
const allocated = async (one: (index: number) => Promise<void>): Promise<Costs> => {
  let collections = 0
  const observer = new PerformanceObserver((list) => void (collections += list.getEntries().length))
  await together(warmChats, one)
  await settle()
  collect()
  await settle()
  observer.observe({ entryTypes: ["gc"] })
  const before = heap()
  await together(measuredChats, (index) => one(warmChats + index))
  await settle()
  const bytes = heap() - before
  await settle()
  observer.disconnect()
  if (collections > 0) throw new Error(`${collections} collections of garbage ran while the heap was measured`)
  return { allocatedKb: bytes / 1_000 / measuredChats }
}

/** The program's own: plain generators. */
export const allocatedByPlain = (): Promise<Costs> => allocated(() => plainChat("by turns"))

/** One `Chat.stream`. */
export const allocatedByStream = (): Promise<Costs> => allocated(streamEach("by turns"))

/** One living chat. */
export const allocatedByLiving = (): Promise<Costs> =>
  withTroupe(programA("by turns"), (troupe) => allocated((index) => oneLiving(troupe, `chat-${index}`)))
