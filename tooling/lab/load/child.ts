/** `node child.ts <kind> <rate> <words>`: the process of a server under load, which obeys its input and answers each line with a report. */
import { createInterface } from "node:readline"
import { Pace } from "./pace.ts"
import { type Kind, serve } from "./served.ts"

/** The memory and counts of a server: `open` streams of the model, and how many were ever `begun`. */
export type Report = Readonly<
  Record<"port" | "cpuMs" | "heap" | "rss" | "open" | "begun" | "sockets" | "chats", number>
>

/** Reports, after a garbage collection; ends all replies; or closes the server. */
export type Verb = "report" | "collect" | "end" | "close"

const [kind = "bare", rate, words] = process.argv.slice(2)
const pace = new Pace(Number(rate))
const { port, chats, close } = await serve[kind as Kind](pace, Number(words))

const verbs: Readonly<Record<Verb, () => unknown>> = {
  report: () => {},
  collect: () => (globalThis as { readonly gc?: () => void }).gc?.(),
  end: () => pace.end(),
  close
}

const report = (): void => {
  const { user, system } = process.cpuUsage()
  const { heapUsed: heap, rss } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
  const { open, begun } = pace
  const said: Report = { port, cpuMs: (user + system) / 1_000, heap, rss, open, begun, sockets, chats: chats() }
  console.log(JSON.stringify(said))
}

report()
// The server exits when its parent has closed the input.
for await (const verb of createInterface({ input: process.stdin })) {
  await verbs[verb as Verb]()
  report()
}
process.exit()
