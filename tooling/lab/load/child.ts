/** The process of a server under load: runs the methods that its parent calls. */
import { Pace } from "./pace.ts"
import { type Kind, type Served, serve } from "./served.ts"

/** The memory and counts of a server: `open` streams of the model, and how many were ever `begun`. */
export type Report = Readonly<Record<"cpuMs" | "heap" | "rss" | "open" | "begun" | "sockets" | "chats", number>>

let pace: Pace | undefined
let served: Served | undefined

const methods = {
  serve: async (what: Kind, wordsPerSecond: number, words: number) => {
    pace = new Pace(wordsPerSecond)
    served = await serve[what](pace, words)
    return { port: served.port, path: served.path(0), body: served.body }
  },
  /** Reports, after a garbage collection if it `collects`. */
  report: async (collects: boolean): Promise<Report> => {
    if (collects) (globalThis as { readonly gc?: () => void }).gc?.()
    const { user, system } = process.cpuUsage()
    const { heapUsed: heap, rss } = process.memoryUsage()
    const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
    const [open, begun, chats] = [pace?.open ?? 0, pace?.begun ?? 0, served?.chats() ?? 0]
    return { cpuMs: (user + system) / 1_000, heap, rss, open, begun, sockets, chats }
  },
  /** Ends all replies. */
  end: async () => pace?.end(),
  close: async () => served?.close()
}

export type Methods = typeof methods

// The server exits when its parent has disconnected.
process.on("disconnect", () => process.exit())

process.on("message", async ([name, ...args]: [keyof Methods, ...Array<never>]) => {
  const method: (...given: Array<never>) => Promise<unknown> = methods[name]
  process.send?.({ value: await method(...args) })
  if (name === "close") process.disconnect()
})
