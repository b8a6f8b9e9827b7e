/**
 * Tools whose calls run in a thread or a child process, where an endless loop can be killed; and a count of their remains.
 */
import type { Tool } from "@troupe/chat/tools"
import { isolated, type Isolation } from "@troupe/isolate"

const module = new URL("./functions.ts", import.meta.url)

const toolOf = (isolate: Isolation, name: string): Tool.Tool =>
  isolated({ name: `${name}_in_${isolate}`, isolate, module, export: name, timeoutMs: 300, graceMs: 20 })

/** The isolated tools. They run only on the host's time, which no test clock moves. */
export const toolsElsewhere = (): ReadonlyArray<Tool.Tool> => [
  toolOf("worker", "answers"),
  toolOf("worker", "spins"),
  toolOf("process", "answers"),
  toolOf("process", "exits")
]

/** The number of threads, child processes and their connections of this program. */
export const placesOpen = (): number =>
  process.getActiveResourcesInfo().filter((name) => /Process|Worker|MessagePort|Pipe/.test(name)).length
