/**
 * `node node.ts <options as JSON>`: one node of the cluster, until it gets SIGTERM, and nothing of it still runs.
 *
 * It prints a line of JSON when it is ready, and for each failure that it reports.
 */
import { appendFileSync, writeSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { Fake, tool } from "@troupe/chat"
import { Cluster } from "@troupe/cluster"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store"
import type { NodeLine, NodeOptions } from "./fleet.ts"
import { respond } from "./script.ts"

const { url, listenOn, port, role, leaseMs, journal, secret } = JSON.parse(process.argv[2] ?? "{}") as NodeOptions

const say = (line: NodeLine): void => void writeSync(1, `${JSON.stringify(line)}\n`)

const note = tool({
  name: "note",
  execute: async (_, { idempotencyKey, toolCall }) => {
    appendFileSync(journal, `${JSON.stringify([idempotencyKey, toolCall.id])}\n`)
    await setTimeout(100)
    return "noted"
  }
})

const store = postgres(url, { maxConnections: 4 })
const troupe = await Cluster.start({
  adapter: Fake.make({ respond }),
  tools: [note],
  store,
  draftEveryMs: 100,
  cluster: {
    url,
    listen: listenOn,
    secret,
    role,
    leaseMs,
    onError: (error) => say({ type: "reported", message: String(error) })
  }
})
const many = 1_000_000
const server = Server.make({
  troupe,
  authorize: () => ({ owner: "storm", may: { approve: true } }),
  limits: { requestsPerMinute: many, streams: many, conversations: many }
})
const { close } = await listen(server, { port, graceMs: 1_000 })

process.once("SIGTERM", async () => {
  await close()
  await troupe.stop()
  await store.close()
})
say({ type: "ready" })
