/**
 * The nodes of a storm: real processes, which are started, killed, frozen, stopped and cut from one another.
 *
 * Owns: the processes, and the network between them. A node keeps its name, its ports and its proxies over restarts.
 */
import { setTimeout } from "node:timers/promises"
import { freePort, type PostgresServer } from "../../../packages/store/test/double/postgresServer.ts"
import { launch, type Launched } from "../child.ts"
import { settlesWithin } from "../delays.ts"
import { argumentsOf, type Build } from "./builds.ts"
import type { History, Line, NodeEvent, NodeFact } from "../check/history.ts"
import { database } from "../check/nodes.ts"
import { type Before, type CutKind, type Links, Network } from "./network.ts"

/** The options of a node's program. */
export interface NodeOptions {
  readonly name: string
  readonly url: string
  readonly listenOn: string
  readonly address: string
  readonly port: number
  readonly role: "home" | "gateway"
  readonly leaseMs: number
  readonly secret: string
}

/** A line of the output of a node, beside its facts: it has opened a connection from this port. */
export interface Opened {
  readonly type: "opened"
  readonly port: number
}

/** A node, running or not. */
export interface FleetNode {
  readonly name: string
  readonly role: "home" | "gateway"
  readonly base: string
  readonly options: NodeOptions
  readonly links: Links
  build: Build
  launched: Launched | undefined
  /** Whether a fault of this node is under way. */
  isBusy: boolean
}

const program = new URL("node.ts", import.meta.url)

/** How long a start and a stop may take, and the pause before a node that was refused starts again, in milliseconds. */
const patienceMs = 60_000
const againMs = 200

export class Fleet {
  readonly nodes: Array<FleetNode> = []
  readonly network = new Network()
  readonly #history: History
  readonly #server: PostgresServer
  readonly #leaseMs: number
  #isRestarting = false
  #count = 0

  constructor(history: History, server: PostgresServer, leaseMs: number) {
    this.#history = history
    this.#server = server
    this.#leaseMs = leaseMs
  }

  /** The nodes that have a process, which may be frozen. */
  get running(): ReadonlyArray<FleetNode> {
    return this.nodes.filter(({ launched }) => launched !== undefined)
  }

  /** Whether PostgreSQL can be restarted. */
  get canRestart(): boolean {
    return this.#server.restart !== undefined
  }

  /** Adds a node, and starts it. */
  async join(role: FleetNode["role"], build: Build = "this"): Promise<FleetNode> {
    const node = await this.#made(`${role}${++this.#count}`, role, build)
    this.nodes.push(node)
    await this.start(node)
    node.isBusy = false
    return node
  }

  /** Starts a home with another protocol, which ends by itself. */
  async startOther(): Promise<void> {
    const node = await this.#made(`other${++this.#count}`, "home", "other")
    await this.start(node)
    await this.term(node)
  }

  /** Starts a node that has no process; resolves when it is ready, or has ended. Starts it again while the database fails. */
  async start(node: FleetNode): Promise<void> {
    const until = performance.now() + patienceMs
    await node.links.inner.open()
    while ((await this.#started(node)) === "database_failed" && performance.now() < until) await setTimeout(againMs)
  }

  async kill(node: FleetNode): Promise<void> {
    await this.#end(node, "kill", "SIGKILL")
  }

  /** Stops a node, whose process is to end by itself. */
  async term(node: FleetNode): Promise<void> {
    if (node.launched === undefined) return
    const begun = performance.now()
    await this.#end(node, "term", "SIGTERM")
    this.#note(node, "left", { detail: String(Math.round(performance.now() - begun)) })
  }

  freeze(node: FleetNode): void {
    this.#note(node, "stop")
    node.launched?.child.kill("SIGSTOP")
  }

  wake(node: FleetNode): void {
    this.#note(node, "cont")
    node.launched?.child.kill("SIGCONT")
  }

  /** Cuts a node from another one, or from PostgreSQL, for a time. */
  async cut(node: FleetNode, other: string, cut: { kind: CutKind; ms: number; before: Before }): Promise<void> {
    this.#note(node, "cut", { other, detail: cut.kind })
    this.network.cut(node.name, other, cut.kind)
    await setTimeout(cut.ms)
    this.network.heal(node.name, other, cut.before)
    this.#note(node, "healed", { other, detail: cut.before })
  }

  async restartPostgres(): Promise<void> {
    if (this.#isRestarting) return
    this.#isRestarting = true
    this.#history.add({ type: "node", node: database, event: "restart" })
    await this.#server.restart?.()
    this.#history.add({ type: "node", node: database, event: "restarted" })
    this.#isRestarting = false
  }

  /** Ends everything that still runs. */
  close(): void {
    for (const { launched } of this.running) launched?.child.kill("SIGKILL")
    this.network.close()
  }

  async #made(name: string, role: FleetNode["role"], build: Build): Promise<FleetNode> {
    const [inner, port] = [await freePort(), await freePort()]
    const listenOn = `127.0.0.1:${inner}`
    const url = new URL(this.#server.url)
    const links = await this.network.attach(name, listenOn, url.host)
    url.host = links.toDatabase.address
    const options: NodeOptions = {
      name,
      role,
      port,
      listenOn,
      url: url.href,
      address: links.inner.address,
      leaseMs: this.#leaseMs,
      secret: "the secret of the storm"
    }
    const base = `http://127.0.0.1:${port}`
    return { name, role, base, options, links, build, launched: undefined, isBusy: true }
  }

  /** Starts its process once; resolves with why it was refused, if it was. */
  async #started(node: FleetNode): Promise<string | undefined> {
    this.#note(node, "started", { detail: node.build })
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    let refused: string | undefined
    const onLine = (text: string): void => {
      const line = JSON.parse(text) as Line | Opened
      if (line.type === "opened") return this.network.opened(node.name, line.port)
      this.#history.add(line)
      if (line.type !== "node") return
      if (line.event === "refused") refused = line.detail
      if (line.event === "ready") resolve(undefined)
    }
    const launched = launch(program, [JSON.stringify(node.options)], onLine, argumentsOf(node.build))
    node.launched = launched
    void launched.closed.then((end) => {
      if (node.launched === launched) {
        node.launched = undefined
        node.links.inner.close()
        if (refused === undefined) this.#note(node, "ended", { detail: end })
      }
      resolve(refused)
    })
    return Promise.race([promise, setTimeout(patienceMs, undefined, { ref: false })])
  }

  async #end(node: FleetNode, event: NodeEvent, signal: NodeJS.Signals): Promise<void> {
    const { launched } = node
    if (launched === undefined) return
    const { child, closed } = launched
    this.#note(node, event)
    node.launched = undefined
    child.kill(signal)
    if (!(await settlesWithin(patienceMs, closed))) {
      this.#note(node, "ended", { detail: "it did not end by itself" })
      child.kill("SIGKILL")
      await closed
    }
    node.links.inner.close()
  }

  #note({ name }: FleetNode, event: NodeEvent, more: Pick<NodeFact, "other" | "detail"> = {}): void {
    this.#history.add({ type: "node", node: name, event, ...more })
  }
}
