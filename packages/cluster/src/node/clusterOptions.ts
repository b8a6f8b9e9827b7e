/** The options of a node, and their check. */
import type { TroupeOptions } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import type { Tls } from "../inner/index.ts"
import { ClusterError, type Placement } from "../placement/index.ts"

/**
 * How a node takes part in a cluster.
 *
 * **Units and defaults**: `role` is `"home"`; a `"gateway"` takes no conversations and only forwards. `leaseMs` is 5,000,
 * `drainMs` 25,000. `onMoved` is `"resume"`: a turn that a move interrupted is retried at its next home, at most twice;
 * with `"interrupt"` it waits for `retry`.
 */
export interface ClusterOptions {
  /** The database of the placement, as `postgres://…`. Required unless `placement` is given. */
  readonly url?: string | undefined
  /** Where this node listens for other nodes: `10.0.0.7:7700`. It must not be reachable from outside. */
  readonly listen: string
  /** The address under which other nodes reach `listen`. Default: `listen`. */
  readonly address?: string | undefined
  /** The secret that all nodes share, at least 16 characters. */
  readonly secret: string
  /** The certificates for the traffic between nodes. Default: none, the traffic is signed and not encrypted. */
  readonly tls?: Tls | undefined
  readonly role?: "home" | "gateway" | undefined
  readonly leaseMs?: number | undefined
  readonly drainMs?: number | undefined
  readonly onMoved?: "resume" | "interrupt" | undefined
  /** Makes the placement of this node, by its address. For tests: `TestCluster`. Default: the engine on PostgreSQL. */
  readonly placement?: ((address: string) => Promise<Placement>) | undefined
  /** Called with failures that no caller gets, such as a chat that could not be started after a move. Default: no call. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The options of a node of a cluster: those of `Troupe.start`, and `cluster`. */
export interface ClusterNodeOptions extends TroupeOptions {
  readonly cluster: ClusterOptions
}

const fewestCharacters = 16

/** Throws a `ClusterError` (`invalid_options`) for options that make no node. */
export const checkClusterOptions = ({ listen, secret, leaseMs = 1, drainMs = 1 }: ClusterOptions): void => {
  const problem = [
    typeof listen === "string" && URL.canParse(`http://${listen}`) ? "" : "listen must be an address, as 10.0.0.7:7700",
    typeof secret === "string" && secret.length >= fewestCharacters
      ? ""
      : `secret must be a text of at least ${fewestCharacters} characters, the same on every node`,
    leaseMs > 0 && drainMs > 0 ? "" : "leaseMs and drainMs must be numbers more than 0"
  ].filter((text) => text !== "")
  if (problem.length > 0) throw new ClusterError("invalid_options", `cluster: ${problem.join("; ")}`)
}

const needs = ["list", "load", "history", "claim", "accept"] as const

/**
 * The store, if it is one that nodes can share. Throws a `ClusterError` (`store_not_shared`) otherwise. With a placement of its
 * own, as a test has, the nodes may share a store of their process.
 */
export const sharedStore = (store: Store.Store | undefined, { placement }: ClusterOptions): Store.SessionStore => {
  const hasLog = store !== undefined && needs.every((name) => typeof Reflect.get(store, name) === "function")
  if (hasLog && (placement !== undefined || Reflect.get(store, "isShared") === true)) return store as Store.SessionStore
  throw new ClusterError(
    "store_not_shared",
    "With `cluster` the store must be one that all nodes share and that keeps a log: store: postgres(url)"
  )
}
