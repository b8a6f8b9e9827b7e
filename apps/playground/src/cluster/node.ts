/** A program: one node of the cluster, until it gets SIGTERM or the parent ends. */
import { Cluster } from "@troupe/cluster"
import { scriptedModel } from "@troupe/scripted"
import { postgres } from "@troupe/store"
import { conversations, servePlayground } from "../host/index.ts"
import { givenOptions, say, whenParentEnds } from "./parent.ts"

/** The options of this program. A node that is started again has the ports that it had. */
export interface NodeOptions {
  readonly url: string
  readonly secret: string
  readonly role: "home" | "gateway"
  readonly leaseMs: number
  readonly wordDelayMs: number
  /** The folder of the built page, and the address of the server of its buttons. */
  readonly served?: { readonly pages: string; readonly control: string } | undefined
  readonly port: number
  readonly inner: string
}

/** The line of this program: where it listens for clients, and for other nodes. */
export interface NodeReady {
  readonly port: number
  readonly inner: string
}

const { url, secret, role, leaseMs, wordDelayMs, served, port, inner } = givenOptions() as NodeOptions
whenParentEnds(() => process.exit(1))
const store = postgres(url, { maxConnections: 4 })
const troupe = await Cluster.start({
  ...conversations,
  adapter: scriptedModel({ wordDelayMs }),
  store,
  draftEveryMs: 250,
  cluster: {
    url,
    secret,
    role,
    leaseMs,
    listen: inner,
    drainMs: 10_000,
    onError: (error) => say({ type: "reported", message: String(error) })
  }
})
const listening = await servePlayground({ troupe, port, ...served })

process.once("SIGTERM", async () => {
  await listening.close()
  await troupe.stop()
  await store.close()
  process.exit()
})
const line: NodeReady = { port: listening.port, inner: troupe.address }
say({ type: "ready", ...line })
