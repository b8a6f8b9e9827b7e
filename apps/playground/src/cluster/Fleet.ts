/**
 * The nodes of the cluster: processes that are started, killed, frozen and drained.
 *
 * Owns: the processes, from `add` to `stop`. Does not own the database.
 *
 * FLEET1. A node keeps its number and its ports when it is started again.
 * FLEET2. A gateway that has ended is started again, unless the fleet stops.
 * FLEET3. When `stop` has resolved, no process is left.
 */
import { setTimeout } from "node:timers/promises"
import { actionsOf, type Command, nameOf, type NodeAction, type NodeState, type NodeStatus } from "../control/index.ts"
import type { NodeOptions, NodeReady } from "./node.ts"
import { type Program, startProgram } from "./program.ts"

/** The most homes: the keys name them by a digit. */
const mostHomes = 9

/** How long a gateway that has ended stays away, in milliseconds. */
const restartMs = 1_000

/** How long a node may drain before it is killed, in milliseconds. */
const drainMs = 15_000

/** A node, and its process if it has one. `served` is what the gateway serves beside the chats. */
interface FleetNode {
  readonly number: number
  readonly role: "home" | "gateway"
  readonly served: NodeOptions["served"]
  state: NodeState
  program: Program<NodeReady> | undefined
  at: NodeReady
}

/** The options that all nodes share. */
export type SharedOptions = Omit<NodeOptions, "role" | "port" | "inner" | "served">

/** A node, and the address that the placement has of it. */
export type FleetStatus = Pick<NodeStatus, "number" | "role" | "state" | "pid"> & { readonly address: string }

export class Fleet {
  readonly #shared: SharedOptions
  readonly #report: (text: string) => void
  readonly #nodes: Array<FleetNode> = []
  readonly #stopping = new AbortController()
  /** Called with a sentence at each change of a node. */
  onNotice: (text: string) => void = () => {}

  /** `report` is called with the failures of nodes. */
  constructor(shared: SharedOptions, report: (text: string) => void) {
    this.#shared = shared
    this.#report = (text) => {
      if (!this.#stopping.signal.aborted) report(text)
    }
  }

  /** The nodes in the order of their numbers, the gateway first. */
  status(): ReadonlyArray<FleetStatus> {
    return this.#nodes
      .map(({ number, role, state, program, at }) => ({
        number,
        role,
        state,
        pid: program?.process.pid,
        address: at.inner
      }))
      .toSorted((one, other) => one.number - other.number)
  }

  /** Adds a home, and resolves when it is ready. */
  addHome(): Promise<NodeReady> {
    return this.#add(this.#homes + 1, "home")
  }

  /** Adds the gateway, and resolves with its port when it is ready. */
  addGateway(served: NodeOptions["served"]): Promise<NodeReady> {
    return this.#add(0, "gateway", served)
  }

  #add(number: number, role: FleetNode["role"], served?: NodeOptions["served"]): Promise<NodeReady> {
    const at = { port: 0, inner: "127.0.0.1:0" }
    const node: FleetNode = { number, role, served, state: "starting", program: undefined, at }
    this.#nodes.push(node)
    return this.#start(node)
  }

  /** Executes a command, whose effects follow later. Returns the reason if it is not possible. */
  command(command: Command): string | undefined {
    if (command.type === "add") {
      if (this.#homes >= mostHomes) return `There are at most ${mostHomes} homes.`
      this.#later(this.addHome())
      return undefined
    }
    const node = this.#nodes.find(({ number }) => number === command.node)
    if (node === undefined) return `There is no node ${command.node}.`
    if (!actionsOf(node.state).includes(command.type)) {
      return `${nameOf(node)} ${node.state === "ended" ? "has ended" : `is ${node.state}`}.`
    }
    return this.#act(node, command.type)
  }

  /** Kills all nodes: their database ends with them. FLEET3 */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(
      this.#nodes.map(async ({ program }) => {
        program?.process.kill("SIGKILL")
        await program?.ended
      })
    )
  }

  get #homes(): number {
    return this.#nodes.filter(({ role }) => role === "home").length
  }

  #act(node: FleetNode, action: NodeAction): string | undefined {
    const { program } = node
    if (action === "start") {
      this.#later(this.#start(node))
      return undefined
    }
    if (program === undefined) return `${nameOf(node)} has no process.`
    const child = program.process
    switch (action) {
      case "kill":
        child.kill("SIGKILL")
        return undefined
      case "drain":
        child.kill("SIGTERM")
        void setTimeout(drainMs, undefined, { ref: false }).then(() => child.kill("SIGKILL"))
        this.#change(node, "draining", "hands its conversations over.")
        return undefined
      case "freeze":
        if (process.platform === "win32") return "Windows cannot freeze a process."
        child.kill("SIGSTOP")
        this.#change(node, "frozen", "is frozen.")
        return undefined
      case "wake":
        child.kill("SIGCONT")
        this.#change(node, "running", "is awake again.")
        return undefined
    }
  }

  async #start(node: FleetNode): Promise<NodeReady> {
    const { role, served, at } = node
    const options: NodeOptions = { ...this.#shared, ...at, role, served }
    const program = startProgram<NodeReady>("node.ts", options, (message) =>
      this.#report(`${nameOf(node)}: ${message}`)
    )
    node.program = program
    this.#change(node, "starting", "starts.")
    void program.ended.then(() => this.#ended(node))
    node.at = await program.ready
    this.#change(node, "running", "has joined.")
    return node.at
  }

  #ended(node: FleetNode): void {
    const wasDraining = node.state === "draining"
    node.program = undefined
    this.#change(node, "ended", wasDraining ? "has left." : "is dead.")
    if (node.role === "gateway") this.#later(this.#startAgain(node))
  }

  /** FLEET2 */
  async #startAgain(node: FleetNode): Promise<void> {
    await setTimeout(restartMs, undefined, { signal: this.#stopping.signal })
    if (node.state === "ended") await this.#start(node)
  }

  #change(node: FleetNode, state: NodeState, text: string): void {
    node.state = state
    if (!this.#stopping.signal.aborted) this.onNotice(`${nameOf(node)} ${text}`)
  }

  /** Reports the failure of work whose result is not awaited, unless the fleet stops. */
  #later(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#report(String(error)))
  }
}
