/**
 * The nodes of a storm: real processes, which are started, killed, frozen, stopped and cut from one another.
 *
 * Owns: the processes, and the network between them. A node keeps its name, its ports and its proxies over restarts.
 *
 * LAB28. Other nodes reach a node that is ready, also when the database refused it before.
 */
import { setTimeout } from "node:timers/promises"
import { freePort } from "../../../packages/store/test/double/freePort.ts"
import type { PostgresServer } from "../../../packages/store/test/double/postgresServer.ts"
import type { History, Line, NodeEvent, NodeFact } from "../check/history.ts"
import { database } from "../check/nodes.ts"
import { launch, type Launched } from "../child.ts"
import { settlesWithin, until } from "../delays.ts"
import { argumentsOf, type Build } from "./builds.ts"
import { type Before, type CutKind, type Links, makeNetwork } from "./network.ts"

/** The options of a node's program. */
export interface NodeOptions extends Readonly<Record<"name" | "url" | "listenOn" | "address" | "secret", string>> {
  readonly port: number
  readonly role: "home" | "gateway"
  readonly leaseMs: number
}

/** A node, running or not. */
export interface FleetNode {
  readonly options: NodeOptions
  readonly base: string
  readonly links: Links
  build: Build
  launched: Launched | undefined
  /** Whether a fault of this node is under way. */
  isBusy: boolean
}

export type Fleet = ReturnType<typeof fleetOf>

const program = new URL("node.ts", import.meta.url)

/** How long a start and a stop may take, and the pause before a node that was refused starts again, in milliseconds. */
const patienceMs = 60_000
const againMs = 200

/** The nodes on a PostgreSQL, of which there are none yet. */
export const fleetOf = (history: History, server: PostgresServer, leaseMs: number) => {
  const nodes: Array<FleetNode> = []
  const network = makeNetwork()
  let isRestarting = false
  let count = 0

  const note = (node: string, event: NodeEvent, more: Pick<NodeFact, "other" | "detail"> = {}): void =>
    history.add({ type: "node", node, event, ...more })

  const make = async (prefix: string, role: NodeOptions["role"], build: Build): Promise<FleetNode> => {
    const name = `${prefix}${++count}`
    const [inner, port] = [await freePort(), await freePort()]
    const listenOn = `127.0.0.1:${inner}`
    const url = new URL(server.url)
    const links = await network.attach(name, listenOn, url.host)
    url.host = links.toDatabase.address
    const { address } = links.inner
    const options = { name, role, port, listenOn, url: url.href, address, leaseMs, secret: "the secret of the storm" }
    return { options, base: `http://127.0.0.1:${port}`, links, build, launched: undefined, isBusy: true }
  }

  /** Starts its process once; resolves with why it was refused, if it was. */
  const startOnce = async (node: FleetNode): Promise<string | undefined> => {
    const { options, links, build } = node
    await links.inner.open()
    note(options.name, "started", { detail: build })
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    let refused: string | undefined
    const onLine = (text: string): void => {
      const line = JSON.parse(text) as Line
      if (line.type === "opened") return network.opened(line.node, line.port)
      history.add(line)
      if (line.type !== "node") return
      if (line.event === "refused") refused = line.detail
      if (line.event === "ready") resolve(undefined)
    }
    const launched = launch(program, [JSON.stringify(options)], onLine, argumentsOf(build))
    node.launched = launched
    const onClosed = (detail: string): void => {
      if (node.launched === launched) {
        node.launched = undefined
        links.inner.close()
        if (refused === undefined) note(options.name, "ended", { detail })
      }
      resolve(refused)
    }
    void launched.closed.then(onClosed)
    return Promise.race([promise, setTimeout(patienceMs, undefined, { ref: false })])
  }

  /** Starts a node that has no process; resolves when it is ready, or has ended. Starts it again while the database fails. */
  const start = async (node: FleetNode): Promise<void> => {
    await until(async () => (await startOnce(node)) !== "database_failed", patienceMs, againMs)
  }

  /** Sends a signal: `stop` freezes a process until `cont`. */
  const signal = (node: FleetNode, event: "kill" | "term" | "stop" | "cont", launched = node.launched): void => {
    note(node.options.name, event)
    launched?.child.kill(`SIG${event.toUpperCase()}` as NodeJS.Signals)
  }

  /** Ends the process of a node. After `term` it is to end by itself. */
  const end = async (node: FleetNode, event: "kill" | "term"): Promise<void> => {
    const { launched, options, links } = node
    if (launched === undefined) return
    const begun = performance.now()
    node.launched = undefined
    signal(node, event, launched)
    if (!(await settlesWithin(patienceMs, launched.closed))) {
      note(options.name, "ended", { detail: "it did not end by itself" })
      launched.child.kill("SIGKILL")
      await launched.closed
    }
    links.inner.close()
    if (event === "term") note(options.name, "left", { detail: String(Math.round(performance.now() - begun)) })
  }

  return {
    /** The nodes that have a process, which may be frozen. */
    get running(): ReadonlyArray<FleetNode> {
      return nodes.filter(({ launched }) => launched !== undefined)
    },
    canRestart: server.restart !== undefined,
    start,
    signal,
    end,
    /** Adds a node, and starts it. */
    join: async (role: NodeOptions["role"], build: Build = "this"): Promise<void> => {
      const node = await make(role, role, build)
      nodes.push(node)
      await start(node)
      node.isBusy = false
    },
    /** Starts a home with another protocol, which ends by itself. */
    startOther: async (): Promise<void> => {
      const node = await make("other", "home", "other")
      await start(node)
      await end(node, "term")
    },
    /** Cuts a node from another one, or from PostgreSQL, for a time. */
    cut: async ({ options: { name } }: FleetNode, other: string, kind: CutKind, ms: number, before: Before) => {
      note(name, "cut", { other, detail: kind })
      network.cut(name, other, kind)
      await setTimeout(ms)
      network.heal(name, other, before)
      note(name, "healed", { other, detail: before })
    },
    restartPostgres: async (): Promise<void> => {
      if (isRestarting) return
      isRestarting = true
      note(database, "restart")
      await server.restart?.()
      note(database, "restarted")
      isRestarting = false
    },
    /** Ends everything that still runs. */
    close: (): void => {
      for (const { launched } of nodes) launched?.child.kill("SIGKILL")
      network.close()
    }
  }
}
