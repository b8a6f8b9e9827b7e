/** The process of a server under load: runs its parent's orders, and reports. */
import { Pace } from "./pace.ts"
import { serveBare, type Served, serveTroupe } from "./served.ts"

/** The messages of the parent. */
export type Order =
  | {
      readonly type: "serve"
      readonly what: "bare" | "troupe"
      readonly wordsPerSecond: number
      readonly words: number
    }
  | { readonly type: "report"; readonly collects: boolean }
  | { readonly type: "end" }
  | { readonly type: "close" }

/** The memory and counts of a server. */
export interface Report {
  readonly cpuMs: number
  readonly heap: number
  readonly rss: number
  /** The open streams of the model. */
  readonly open: number
  /** The streams that were ever started. */
  readonly begun: number
  readonly sockets: number
  readonly chats: number
}

/** The messages to the parent. */
export type Answer =
  | { readonly type: "serving"; readonly port: number; readonly paths: string; readonly body: string }
  | { readonly type: "report"; readonly report: Report }
  | { readonly type: "done" }

let pace: Pace | undefined
let served: Served | undefined

const answer = (said: Answer): void => void process.send?.(said)

const reported = (collects: boolean): Report => {
  if (collects) (globalThis as { readonly gc?: () => void }).gc?.()
  const { user, system } = process.cpuUsage()
  const { heapUsed, rss } = process.memoryUsage()
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
  return {
    cpuMs: (user + system) / 1_000,
    heap: heapUsed,
    rss,
    open: pace?.open ?? 0,
    begun: pace?.begun ?? 0,
    sockets,
    chats: served?.chats() ?? 0
  }
}

// The server exits when its parent has disconnected.
process.on("disconnect", () => process.exit())

process.on("message", async (order: Order) => {
  switch (order.type) {
    case "serve": {
      pace = new Pace(order.wordsPerSecond)
      served = await (order.what === "bare" ? serveBare : serveTroupe)(pace, order.words)
      return answer({ type: "serving", port: served.port, paths: served.path(0), body: served.body })
    }
    case "report":
      return answer({ type: "report", report: reported(order.collects) })
    case "end":
      pace?.end()
      return answer({ type: "done" })
    case "close":
      await served?.close()
      answer({ type: "done" })
      process.disconnect()
  }
})
