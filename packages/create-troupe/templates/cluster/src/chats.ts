/**
 * The chats of this node. With `DATABASE_URL` it is a node of a cluster on PostgreSQL, whose conversations live on one node
 * each. Without it, it is alone and keeps its conversations in memory, for development.
 */
import { hostname } from "node:os"
import { Troupe } from "@troupe/chat"
import { Cluster } from "@troupe/cluster"
import { postgres } from "@troupe/store"
import { agent } from "./agent.ts"
import { adapter } from "./model.ts"

const { DATABASE_URL, CLUSTER_SECRET = "", NODE_ROLE, NODE_HOST = hostname(), INNER_PORT = "7700" } = process.env

export const startChats = async () => {
  if (DATABASE_URL === undefined) {
    const troupe = await Troupe.start({ ...agent, adapter })
    return { troupe, stop: () => troupe.stop() }
  }
  const store = postgres(DATABASE_URL)
  const troupe = await Cluster.start({
    ...agent,
    adapter,
    store,
    cluster: {
      url: DATABASE_URL,
      secret: CLUSTER_SECRET,
      // A gateway passes requests on, and has no conversations of its own.
      role: NODE_ROLE === "gateway" ? "gateway" : "home",
      listen: `0.0.0.0:${INNER_PORT}`,
      address: `${NODE_HOST}:${INNER_PORT}`,
      drainMs: 25_000,
      onError: console.error
    }
  })
  const stop = async (): Promise<void> => {
    await troupe.stop()
    await store.close()
  }
  return { troupe, stop }
}
