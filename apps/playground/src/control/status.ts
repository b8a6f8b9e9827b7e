/**
 * The state of a node's process.
 *
 * - `starting`: the process has no place in the cluster yet
 * - `running`: it answers
 * - `frozen`: it is stopped by SIGSTOP, and continues where it was
 * - `draining`: it hands its conversations over, and ends by itself
 * - `ended`: there is no process
 */
export type NodeState = "starting" | "running" | "frozen" | "draining" | "ended"

/** A node of the cluster. */
export interface NodeStatus {
  /** 0 is the gateway; homes have the other digits. */
  readonly number: number
  readonly role: "home" | "gateway"
  readonly state: NodeState
  /** Its process, while there is one. */
  readonly pid: number | undefined
  /** Its address for other nodes. */
  readonly address: string
  /** How many buckets it has a lease of. The lease of a frozen or killed node lasts for some seconds. */
  readonly buckets: number
  /** The newest epoch of its leases. */
  readonly epoch: number | undefined
  /** How many conversations live there. */
  readonly chats: number
}

/** All nodes, and the newest event as a sentence. */
export interface ClusterStatus {
  readonly nodes: ReadonlyArray<NodeStatus>
  readonly notice: string
}

/** The name of a node for people. */
export const nameOf = ({ number, role }: Pick<NodeStatus, "number" | "role">): string =>
  role === "gateway" ? "Gateway" : `Home ${number}`
