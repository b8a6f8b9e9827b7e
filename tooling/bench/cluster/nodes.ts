/**
 * Clusters on databases of their own, on one PostgreSQL.
 *
 * Owns: the built packages, the PostgreSQL, and all processes that it started; `close` ends these processes.
 */
import { setTimeout as pause } from "node:timers/promises"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { queries } from "../../../packages/store/test/double/queries.ts"
import { unpackNode } from "../built.ts"
import type { NodeOptions } from "./node.ts"
import { type NodeProcess, programFiles, startNode } from "./process.ts"

/** A way to chats: the node that clients talk to, and the homes of the chats. It is a home itself if there is no gateway. */
export interface Way {
  readonly gateway: NodeProcess
  readonly homes: ReadonlyArray<NodeProcess>
}

/** A gateway and its homes. */
export interface BenchCluster extends Way {
  readonly url: string
}

/** The way to the chats of one home, by default without a gateway. */
export const wayTo = (home: NodeProcess, gateway = home): Way => ({ gateway, homes: [home] })

/** The ids of which each home is to have some. */
const sample = Array.from({ length: 256 }, (_, index) => `sample${index}`)
const lookMs = 50

/** Packs the packages, and starts a PostgreSQL for clusters. */
export const openNodes = async () => {
  const built = await unpackNode(new URL("node.ts", import.meta.url), programFiles)
  const { url: server, stop } = await startPostgres()
  const started: Array<NodeProcess> = []
  let databases = 0
  const database = async (): Promise<string> => {
    const name = `bench${++databases}`
    await queries(server, [`CREATE DATABASE ${name}`])
    const url = new URL(server)
    url.pathname = `/${name}`
    return url.href
  }
  const start = async (options: Omit<NodeOptions, "port">): Promise<NodeProcess> => {
    const node = await startNode(built.path, options)
    started.push(node)
    return node
  }
  const close = async (): Promise<void> => void (await Promise.all(started.map((node) => node.end("SIGKILL"))))
  return {
    /** Starts a cluster, and waits until each home has a share of the chats. */
    cluster: async (count: number, leaseMs: number): Promise<BenchCluster> => {
      const url = await database()
      // The first node creates the tables.
      const gateway = await start({ role: "gateway", url, leaseMs })
      const homes: Array<NodeProcess> = []
      while (homes.length < count) homes.push(await start({ role: "home", url, leaseMs }))
      await placed(homes)
      return { url, gateway, homes }
    },
    /** Starts one process without a cluster. */
    alone: async (): Promise<NodeProcess> => start({ role: "alone", url: await database(), leaseMs: 0 }),
    close,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await close()
      await stop()
      built.remove()
    }
  }
}

/** The started nodes. */
export type Nodes = Awaited<ReturnType<typeof openNodes>>

/** Waits until the homes have all chats together, and each has some. */
export const placed = async (homes: ReadonlyArray<NodeProcess>): Promise<void> => {
  for (;;) {
    const shares = await Promise.all(homes.map((home) => home.homesOf(sample)))
    const count = shares.reduce((sum, { length }) => sum + length, 0)
    if (count === sample.length && shares.every(({ length }) => length > 0)) return
    await pause(lookMs)
  }
}

/** So many ids of chats with this prefix whose home is the node. */
export const idsAt = async (home: NodeProcess, prefix: string, count: number): Promise<ReadonlyArray<string>> => {
  const ids = await home.homesOf(Array.from({ length: 8 * count }, (_, index) => `${prefix}${index}`))
  if (ids.length < count) throw new Error(`a home has only ${ids.length} of ${8 * count} chats`)
  return ids.slice(0, count)
}
