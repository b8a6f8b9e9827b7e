/** Nodes of a cluster in one process, over loopback, on one store. */
import { Fake, type TroupeOptions } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { onTestFinished } from "vitest"
import type { ClusterOptions, ClusterTroupe } from "../../src/node/Cluster.ts"
import * as Cluster from "../../src/node/Cluster.ts"
import { type Proxy, proxy } from "./proxy.ts"
import { Placements } from "./placements.ts"

export const secret = "the secret of all the nodes"

export interface TestNode {
  readonly troupe: ClusterTroupe
  readonly server: Server.Server
  /** The base URL for clients. */
  readonly url: string
  readonly stop: () => Promise<void>
  /** Stops and cuts the traffic of other nodes to this one. */
  readonly proxy: Proxy
}

export interface TestNodes {
  readonly placements: Placements
  readonly store: Store.SessionStore
  readonly node: (options?: NodeOptions) => Promise<TestNode>
}

interface NodeOptions {
  readonly troupe?: Partial<TroupeOptions>
  readonly server?: Partial<Server.ServerOptions>
  readonly cluster?: Partial<ClusterOptions>
}

/** The owner is `anna`; the chat `c` is the Troupe's `anna/c`. */
export const nodes = (adapter: TroupeOptions["adapter"] = hello()): TestNodes => {
  const placements = new Placements()
  const store = Store.memory()
  const node: TestNodes["node"] = async ({ troupe: more = {}, server: serverMore = {}, cluster = {} } = {}) => {
    const between = await proxy()
    const troupe = await Cluster.start({
      adapter,
      store,
      ...more,
      cluster: {
        listen: "127.0.0.1:0",
        address: between.address,
        secret,
        leaseMs: 1_000,
        placement: placements.join(cluster.role),
        ...cluster
      }
    })
    between.lead(troupe.bound)
    const server = Server.make({
      troupe,
      authorize: () => ({ owner: "anna", may: { approve: true } }),
      limits: { requestsPerMinute: 1_000_000 },
      ...serverMore
    })
    const { url, close } = await listen(server, { graceMs: 500 })
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> =>
      (stopping ??= (async () => {
        await close()
        await troupe.stop()
      })())
    onTestFinished(stop)
    return { troupe, server, url, stop, proxy: between }
  }
  return { placements, store, node }
}

export const hello = (): TroupeOptions["adapter"] =>
  Fake.make({ script: [{ text: "Hi " }, { text: "there" }, { finish: "stop" }] })

export const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

/** Turns of the event loop, until something holds. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await nextTurn()
}

/** A number of turns of the event loop. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
