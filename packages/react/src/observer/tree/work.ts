/**
 * What the work of a process is: its colour in the tree. The state of its mailbox is none of it.
 *
 * - `running`: its call or its turn runs
 * - `waiting`: it waits for a person, for a result, or for its place
 * - `draining`: it was cancelled, and may still end in time
 * - `idle`: it has nothing to do
 */
import type { Observation } from "@troupe/chat/observe"
import type { ChatView } from "@troupe/chat/view"

/** The work of a process, and the main argument of its call. */
export interface Work {
  readonly state: "running" | "waiting" | "draining" | "idle"
  readonly about?: string | undefined
}

type Calls = ChatView.ChatView["toolCalls"]

const callStates: Readonly<Record<Calls[number]["status"], Work["state"]>> = {
  queued: "waiting",
  gating: "waiting",
  running: "running",
  cancelling: "draining",
  restarting: "draining",
  suspended: "waiting",
  done: "idle"
}

/** The work of the processes of a chat's calls, and of those of its sub-agents, by their pids. */
export const worksOf = (calls: Calls): ReadonlyMap<string, Work> => {
  const works = new Map<string, Work>()
  const put = (list: Calls): void => {
    for (const { process, status, about, child } of list) {
      if (process !== undefined) works.set(process, { state: callStates[status], about })
      if (child !== undefined) put(child.toolCalls)
    }
  }
  put(calls)
  return works
}

const resting: ReadonlySet<string> = new Set(["idle", "interrupted", "moved"])

/** The work of a chat in a phase. */
export const chatWork = (phase: ChatView.ChatView["phase"]): Work =>
  phase.startsWith("awaiting") ? { state: "waiting" } : { state: resting.has(phase) ? "idle" : "running" }

/** The work of a process of which nothing else is known: a process that waits for a promise works. */
export const processWork = ({ status }: Pick<Observation.ProcessNode, "status">): Work => ({
  state: status === "busy" || status === "running" ? "running" : "idle"
})
