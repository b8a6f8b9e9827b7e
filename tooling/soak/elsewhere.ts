/** Tools whose calls run in a thread or a child process, where what never yields can be killed; and what is left of them. */
import type { Tool } from "@troupe/chat/tools"
import { isolated, type Isolation } from "@troupe/isolate"

const module = new URL("./functions.ts", import.meta.url)

const toolOf = (isolate: Isolation, name: string): Tool.Tool =>
  isolated({ name: `${name}_in_${isolate}`, isolate, module, export: name, timeoutMs: 300, graceMs: 20 })

/** The tools that run elsewhere: on the host's time only, which no test clock moves. */
export const toolsElsewhere = (): ReadonlyArray<Tool.Tool> => [
  toolOf("worker", "answers"),
  toolOf("worker", "spins"),
  toolOf("process", "answers"),
  toolOf("process", "exits")
]

/** How many threads, child processes and their connections this program has. */
export const placesOpen = (): number =>
  process.getActiveResourcesInfo().filter((name) => /Process|Worker|MessagePort|Pipe/.test(name)).length
