/**
 * `node node.ts <options as JSON>`: one node, or one process without a cluster, until it gets SIGTERM.
 *
 * The bench copies this file and its model to the folder of the built packages, and runs it there. Its parent asks it over the
 * channel of `fork`.
 */
import { setImmediate as nextTurn } from "node:timers/promises"
import { Troupe } from "@troupe/chat"
import { Cluster } from "@troupe/cluster"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store"
import { reply } from "./model.ts"

/** The options of a node. `alone`: one process without a cluster. */
export interface NodeOptions {
  readonly role: "home" | "gateway" | "alone"
  readonly url: string
  readonly leaseMs: number
  readonly port: number
}

/** A question of the parent: the processor time so far in milliseconds, the heap after a collection, or those of the chats whose home is here. */
export type Question = "cpuMs" | "heapBytes" | ReadonlyArray<string>

const owner = "bench"
const many = 1_000_000
const { role, url, leaseMs, port } = JSON.parse(process.argv[2] ?? "{}") as NodeOptions

const store = postgres(url)
const options = { adapter: { name: "bench", stream: reply }, store, passivateAfterMs: 1_000 }
const secret = "the secret of the bench"
const node =
  role === "alone"
    ? undefined
    : await Cluster.start({ ...options, cluster: { url, listen: "127.0.0.1:0", secret, role, leaseMs } })
const troupe = node ?? (await Troupe.start(options))
const server = Server.make({
  troupe,
  authorize: () => ({ owner, may: { approve: true } }),
  limits: { requestsPerMinute: many, streams: many, conversations: many }
})
const { close, port: taken } = await listen(server, { port, graceMs: 1_000 })

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const heapBytes = async (): Promise<number> => {
  for (let turn = 0; turn < 12; turn++) await nextTurn()
  const { gc } = globalThis as { readonly gc?: () => void }
  gc?.()
  gc?.()
  return process.memoryUsage().heapUsed
}

const isHere = (id: string): boolean => node === undefined || node.isHome(`${owner}/${id}`)

process.on("message", async (question: Question) => {
  if (typeof question !== "string") process.send?.(question.filter(isHere))
  else process.send?.(question === "cpuMs" ? cpuMs() : await heapBytes())
})
process.channel?.unref()

process.once("SIGTERM", async () => {
  await close()
  await troupe.stop()
  await store.close()
})
process.send?.(taken)
