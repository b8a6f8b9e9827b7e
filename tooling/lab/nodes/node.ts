/**
 * `node node.ts <options as JSON>`: one node of the cluster, until it gets SIGTERM, and nothing of it still runs.
 *
 * It reports the calls that write, each connection that it opens, and the parts that have ended after SIGTERM.
 */
import { subscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { Cluster, ClusterError } from "@troupe/cluster"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store"
import { unlimited } from "../../bench/work/served.ts"
import { type NodeEvent, say } from "../check/history.ts"
import { workloadOf } from "../workload.ts"
import type { NodeOptions } from "./fleet.ts"

const options = JSON.parse(process.argv[2] ?? "{}") as NodeOptions
const { name, url, listenOn, address, port, role, leaseMs, secret } = options

const note = (event: NodeEvent, detail = ""): void => say({ type: "node", node: name, event, detail })

subscribe("net.client.socket", (message) => {
  const { socket } = message as { readonly socket: Socket }
  socket.once("connect", () => say({ type: "opened", node: name, port: socket.localPort ?? 0 }))
})

const store = postgres(url, { maxConnections: 4 })

try {
  const onError = (error: unknown): void => note("reported", String(error))
  const troupe = await Cluster.start({
    ...workloadOf({ pauseMs: () => 70, writeMs: 100, node: name }),
    store,
    draftEveryMs: 100,
    cluster: { url, listen: listenOn, address, secret, role, leaseMs, onError }
  })
  const { close } = await listen(unlimited({ troupe }), { port, graceMs: 1_000 })
  process.once("SIGTERM", async () => {
    await close()
    await troupe.stop()
    await store.close()
  })
  note("ready")
} catch (error) {
  if (!(error instanceof ClusterError)) throw error
  note("refused", error.reason)
  await store.close()
}
