/**
 * The nodes of a storm: real processes, which are started, killed, frozen and stopped.
 *
 * Owns: the processes. A node keeps its name and its ports over restarts.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { freePort } from "../../packages/store/test/double/postgresServer.ts"
import type { History, NodeEvent } from "./history.ts"

/** The options of a node's program. */
export interface NodeOptions {
  readonly url: string
  readonly listenOn: string
  readonly port: number
  readonly role: "home" | "gateway"
  readonly leaseMs: number
  readonly journal: string
  readonly secret: string
}

/** A line of a node's output. */
export type NodeLine = { readonly type: "ready" } | { readonly type: "reported"; readonly message: string }

/** A node, running or not. */
export interface FleetNode {
  readonly name: string
  readonly role: "home" | "gateway"
  readonly base: string
  readonly options: NodeOptions
  child: ChildProcess | undefined
  /** Whether a fault of this node is under way. */
  isBusy: boolean
}

const program = new URL("node.ts", import.meta.url).pathname

/** How long a start and a stop may take, in milliseconds. */
const patienceMs = 60_000

export class Fleet {
  readonly nodes: Array<FleetNode> = []
  readonly #history: History
  readonly #shared: Pick<NodeOptions, "url" | "leaseMs" | "journal" | "secret">

  constructor(history: History, shared: Fleet["shared"]) {
    this.#history = history
    this.#shared = shared
  }

  get shared(): Pick<NodeOptions, "url" | "leaseMs" | "journal" | "secret"> {
    return this.#shared
  }

  /** The nodes that have a process, which may be frozen. */
  get running(): ReadonlyArray<FleetNode> {
    return this.nodes.filter(({ child }) => child !== undefined)
  }

  /** Adds a node, and starts it. */
  async join(role: FleetNode["role"]): Promise<FleetNode> {
    const [inner, port] = [await freePort(), await freePort()]
    const options = { ...this.#shared, role, port, listenOn: `127.0.0.1:${inner}` }
    const name = `${role}${this.nodes.length + 1}`
    const node = { name, role, base: `http://127.0.0.1:${port}`, options, child: undefined, isBusy: false }
    this.nodes.push(node)
    await this.start(node)
    return node
  }

  /** Starts a node that has no process; resolves when it is ready, or has ended. */
  async start(node: FleetNode): Promise<void> {
    this.#note(node, "started")
    const child = spawn(process.execPath, [program, JSON.stringify(node.options)], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on("line", (text) => {
        const line = JSON.parse(text) as NodeLine
        if (line.type === "ready") resolve()
        this.#note(node, line.type, line.type === "reported" ? line.message : undefined)
      })
      child.once("close", (code, signal) => {
        if (node.child === child) {
          node.child = undefined
          this.#note(node, "ended", String(code ?? signal))
        }
        resolve()
      })
    })
    node.child = child
    await Promise.race([ready, setTimeout(patienceMs, undefined, { ref: false })])
  }

  async kill(node: FleetNode): Promise<void> {
    await this.#end(node, "kill", "SIGKILL")
  }

  /** Stops a node, whose process is to end by itself. */
  async term(node: FleetNode): Promise<void> {
    const begun = performance.now()
    await this.#end(node, "term", "SIGTERM")
    this.#note(node, "left", String(Math.round(performance.now() - begun)))
  }

  freeze(node: FleetNode): void {
    this.#note(node, "stop")
    node.child?.kill("SIGSTOP")
  }

  wake(node: FleetNode): void {
    this.#note(node, "cont")
    node.child?.kill("SIGCONT")
  }

  async #end(node: FleetNode, event: NodeEvent, signal: NodeJS.Signals): Promise<void> {
    const { child } = node
    if (child === undefined) return
    this.#note(node, event)
    node.child = undefined
    const closed = once(child, "close")
    child.kill(signal)
    const isClosed = await Promise.race([closed.then(() => true), setTimeout(patienceMs, false, { ref: false })])
    if (isClosed) return
    this.#note(node, "ended", "it did not end by itself")
    child.kill("SIGKILL")
    await closed
  }

  #note(node: FleetNode, event: NodeEvent, detail?: string): void {
    this.#history.add({ type: "node", node: node.name, event, ...(detail === undefined ? {} : { detail }) })
  }
}
