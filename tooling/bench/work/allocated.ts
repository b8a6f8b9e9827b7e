/**
 * The bytes that a living chat allocates while it runs program A.
 *
 * The flags of its process make the young generation so large that no collection runs between the two readings of the heap. So the difference
 * is everything that was allocated.
 */
import { PerformanceObserver } from "node:perf_hooks"
import type { Agents } from "@troupe/chat/agents"
import { together } from "./programA.ts"
import { collect, type Costs, heap, settle } from "./timed.ts"
import { oneLiving, programA, withTroupe } from "./troupe.ts"

const warmChats = 500
const measuredChats = 200

/** Agents that no chat uses. */
const idleAgents = (count: number): Agents =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`agent-${index}`, { instructions: `agent ${index}` }])
  )

/** Measures what a chat allocates, in kB, in a Troupe with so many definitions of agents that no chat uses. */
export const allocated = (definitions = 0): Promise<Costs> =>
  withTroupe(programA("by turns", definitions === 0 ? {} : { agents: idleAgents(definitions) }), async (troupe) => {
    let collections = 0
    const observer = new PerformanceObserver((list) => void (collections += list.getEntries().length))
    await together(warmChats, (index) => oneLiving(troupe, `warm-${index}`))
    await settle()
    collect()
    await settle()
    observer.observe({ entryTypes: ["gc"] })
    const before = heap()
    await together(measuredChats, (index) => oneLiving(troupe, `chat-${index}`))
    await settle()
    const bytes = heap() - before
    await settle()
    observer.disconnect()
    if (collections > 0) throw new Error(`${collections} collections of garbage ran while the heap was measured`)
    return { allocatedKb: bytes / 1_000 / measuredChats }
  })
