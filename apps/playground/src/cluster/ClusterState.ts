/**
 * The state of the cluster that the page and the terminal show.
 *
 * Owns: the newest notice. Does not own the nodes, which the fleet has, nor the list of the nodes, which the gateway answers.
 */
import type { ChatLink } from "@troupe/server"
import type { ClusterStatus, Command } from "../control/index.ts"
import type { Fleet } from "./Fleet.ts"

/** The nodes as the cluster shows them. */
type Observed = ChatLink.Watched<ReadonlyArray<ChatLink.NodeStatus>>

export class ClusterState {
  readonly #fleet: Fleet
  readonly #print: (line: string) => void
  readonly #listeners = new Set<() => void>()
  #observed: Observed | undefined
  #notice = ""

  constructor(fleet: Fleet, print: (line: string) => void) {
    this.#fleet = fleet
    this.#print = print
    fleet.onNotice = this.#said
  }

  readonly status = (): ClusterStatus => {
    const observed = new Map(this.#observed?.getState()?.map((one) => [one.node, one]))
    const nodes = this.#fleet.status().map((node) => {
      const one = observed.get(node.address)
      // A node whose lease has expired has no buckets.
      const { buckets = 0, epoch, chats = 0 } = one === undefined || one.state === "gone" ? {} : one
      return { ...node, buckets, epoch, chats }
    })
    return { nodes, notice: this.#notice }
  }

  /** Calls a function at each change of the status. */
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  /** Executes a command. Returns the reason if it is not possible. */
  readonly command = (command: Command): string | undefined => this.#fleet.command(command)

  /** Follows the list of the nodes, until the returned function is called. */
  readonly follow = (observed: Observed): (() => void) => {
    this.#observed = observed
    return observed.subscribe(() => this.#changed())
  }

  readonly #said = (text: string): void => {
    this.#notice = text
    this.#print(text)
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
