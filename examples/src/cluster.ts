/**
 * One node of a cluster. `cluster/compose.yaml` and `cluster/kubernetes.yaml` run it in containers.
 *
 * Replace the adapter by that of a provider, and `authorize` by your own.
 */
import { hostname } from "node:os"
import { Cluster } from "@troupe/cluster"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store"
import { adapter } from "./chats.ts"
import { withProbes } from "./probes.ts"

const { DATABASE_URL = "", CLUSTER_SECRET = "", NODE_ROLE, NODE_HOST = hostname() } = process.env
const { PORT = "8080", INNER_PORT = "7700" } = process.env

const store = postgres(DATABASE_URL)
const troupe = await Cluster.start({
  adapter,
  store,
  cluster: {
    url: DATABASE_URL,
    secret: CLUSTER_SECRET,
    role: NODE_ROLE === "gateway" ? "gateway" : "home",
    listen: `0.0.0.0:${INNER_PORT}`,
    address: `${NODE_HOST}:${INNER_PORT}`,
    drainMs: 25_000,
    onError: console.error
  }
})
const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }) })
const { port, close } = await listen(withProbes(server), { host: "0.0.0.0", port: Number(PORT), graceMs: 10_000 })
console.log(`http://127.0.0.1:${port}`)

process.once("SIGTERM", async () => {
  await close()
  await troupe.stop()
  await store.close()
})
