/**
 * The node that is observed.
 *
 * **Owns** the choice of the user. Does not own the link, nor the watches of the observed values.
 *
 * - OBST4. The nodes are watched only when the tree has named its node: without a cluster they are not requested.
 *
 * @module
 */
import type { NodeStatus, ObserverLink, Watched } from "@troupe/server/ChatLink"

/** The nodes, and the observed one. */
export class NodeChoice {
  readonly #observer: ObserverLink
  readonly #list: Watched<ReadonlyArray<NodeStatus>> | undefined
  readonly #changed: () => void
  #chosen: string | undefined
  #reached: string | undefined
  #leave: (() => void) | undefined

  constructor(observer: ObserverLink, changed: () => void) {
    this.#observer = observer
    this.#list = observer.nodes?.()
    this.#changed = changed
  }

  /** The observation of the chosen node, or of the node that the client has reached. */
  get at(): ObserverLink {
    return (this.#chosen === undefined ? undefined : this.#observer.node?.(this.#chosen)) ?? this.#observer
  }

  /** The address that the user chose. */
  get chosen(): string | undefined {
    return this.#chosen
  }

  /** The address of the observed node; `undefined` without a cluster. */
  get node(): string | undefined {
    return this.#chosen ?? this.#reached
  }

  /** The nodes. One that the cluster has forgotten stays while it is observed. */
  get nodes(): ReadonlyArray<NodeStatus> {
    const { node } = this
    const nodes = node === undefined ? [] : (this.#list?.getState() ?? [])
    if (node === undefined || nodes.length === 0 || nodes.some((one) => one.node === node)) return nodes
    return [...nodes, { node, state: "gone" }]
  }

  /** Takes the node that a tree has named (OBST4). */
  reached(node: string | undefined): void {
    if (node === undefined || this.#reached !== undefined) return
    this.#reached = node
    this.#leave = this.#list?.subscribe(this.#changed)
  }

  /** Chooses the next node, or the one before. */
  step(by: 1 | -1): void {
    const { nodes, node } = this
    const next = nodes.at((nodes.findIndex((one) => one.node === node) + by) % nodes.length)
    if (next !== undefined && nodes.length > 1) this.#chosen = next.node
  }

  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }
}
