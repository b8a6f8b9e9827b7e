/**
 * Clusters on databases of their own, on one PostgreSQL.
 *
 * Owns: all processes that it started; `close` ends them.
 */
import { setTimeout as pause } from "node:timers/promises"
import { queries } from "../../../packages/store/test/double/queries.ts"
import type { NodeOptions } from "./node.ts"
import { NodeProcess } from "./process.ts"

/** A gateway and its homes. */
export interface BenchCluster {
  readonly url: string
  readonly gateway: NodeProcess
  readonly homes: ReadonlyArray<NodeProcess>
}

/** The ids of which each home is to have some. */
const sample = Array.from({ length: 256 }, (_, index) => `sample${index}`)
const lookMs = 50

export class Nodes {
  readonly #server: string
  readonly #folder: string
  readonly #started: Array<NodeProcess> = []
  #databases = 0

  /** `server` is the URL of the PostgreSQL server, `folder` that of the built packages. */
  constructor(server: string, folder: string) {
    this.#server = server
    this.#folder = folder
  }

  /** Starts a cluster, and waits until each home has a share of the chats. */
  async cluster({ homes, leaseMs }: { readonly homes: number; readonly leaseMs: number }): Promise<BenchCluster> {
    const url = await this.#database()
    const start = (role: NodeOptions["role"]) => this.#start({ role, url, leaseMs })
    // The first node creates the tables.
    const gateway = await start("gateway")
    const all: Array<NodeProcess> = []
    for (let count = 0; count < homes; count++) all.push(await start("home"))
    await placed(all)
    return { url, gateway, homes: all }
  }

  /** Starts one process without a cluster. */
  async alone(): Promise<NodeProcess> {
    return this.#start({ role: "alone", url: await this.#database(), leaseMs: 0 })
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((node) => node.end("SIGKILL")))
  }

  async #database(): Promise<string> {
    const name = `bench${++this.#databases}`
    await queries(this.#server, [`CREATE DATABASE ${name}`])
    const url = new URL(this.#server)
    url.pathname = `/${name}`
    return url.href
  }

  async #start(options: Omit<NodeOptions, "port">): Promise<NodeProcess> {
    const node = await NodeProcess.start(this.#folder, options)
    this.#started.push(node)
    return node
  }
}

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
