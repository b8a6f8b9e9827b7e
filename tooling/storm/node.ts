/**
 * `node node.ts <options as JSON>`: one node of the cluster, until it gets SIGTERM, and nothing of it still runs.
 *
 * It prints a line of JSON when it is ready, when it may not join, for each failure that it reports, and for each connection
 * that it opens.
 */
import { subscribe } from "node:diagnostics_channel"
import { appendFileSync, writeSync } from "node:fs"
import type { Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Cluster, ClusterError } from "@troupe/cluster"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store"
import type { NodeOptions, NodeOutput } from "./fleet.ts"
import type { Call } from "./ledger.ts"
import { clerk, respond } from "./script.ts"

const options = JSON.parse(process.argv[2] ?? "{}") as NodeOptions
const { name, url, listenOn, address, port, role, leaseMs, journal, secret } = options

const say = (line: NodeOutput): void => void writeSync(1, `${JSON.stringify(line)}\n`)

subscribe("net.client.socket", (message) => {
  const { socket } = message as { readonly socket: Socket }
  socket.once("connect", () => say({ type: "opened", port: socket.localPort ?? 0 }))
})

const note = tool({
  name: "note",
  execute: async (_, { idempotencyKey, toolCall }) => {
    const call: Call = { key: idempotencyKey, call: toolCall.id, node: name, at: Date.now() }
    appendFileSync(journal, `${JSON.stringify(call)}\n`)
    await setTimeout(100)
    return "noted"
  }
})

const many = 1_000_000
const store = postgres(url, { maxConnections: 4 })

const run = async (): Promise<void> => {
  const onError = (error: unknown): void => say({ type: "reported", message: String(error) })
  const troupe = await Cluster.start({
    adapter: Fake.make({ respond }),
    agents: { clerk: { adapter: Fake.make({ respond: clerk }), tools: [note] } },
    tools: [note, Agents.subagent("clerk")],
    store,
    draftEveryMs: 100,
    cluster: { url, listen: listenOn, address, secret, role, leaseMs, onError }
  })
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "storm", may: { approve: true } }),
    limits: { requestsPerMinute: many, streams: many, conversations: many }
  })
  const { close } = await listen(server, { port, graceMs: 1_000 })
  process.once("SIGTERM", async () => {
    const began = performance.now()
    const ends = { listener: close, troupe: () => troupe.stop(), store: async () => store.close?.() }
    for (const [part, end] of Object.entries(ends)) {
      await end()
      say({ type: "closed", part, ms: Math.round(performance.now() - began) })
    }
  })
  say({ type: "ready" })
}

try {
  await run()
} catch (error) {
  if (!(error instanceof ClusterError)) throw error
  say({ type: "refused", reason: error.reason })
  await store.close()
}
