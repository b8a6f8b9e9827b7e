/**
 * The same Troupe on many machines.
 *
 * CLUSTER14. Without `cluster`, `start` is `Troupe.start`. The engine and its database are loaded by a node only.
 *
 * @module
 */
import { type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import type { ClusterNodeOptions } from "./clusterOptions.ts"
import type { ClusterTroupe } from "./ClusterTroupe.ts"

export type { ClusterNodeOptions, ClusterOptions } from "./clusterOptions.ts"
export type { ClusterTroupe } from "./ClusterTroupe.ts"

/** The options of a Troupe without a cluster: those of `Troupe.start`. */
export interface OneMachineOptions extends TroupeOptions {
  /** Absent; with it, the program is a node of a cluster. */
  readonly cluster?: undefined
}

interface Start {
  (options: OneMachineOptions): Promise<RunningTroupe>
  (options: ClusterNodeOptions): Promise<ClusterTroupe>
}

/**
 * Starts a Troupe: with `cluster`, one node of many; without it, as `Troupe.start` does.
 *
 * **Errors**: as for `Troupe.start`; with `cluster` rejects with a `ClusterError`: `invalid_options`, `store_not_shared` for a
 * store of one machine, `protocol_mismatch`, `database_failed`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake } from "@troupe/chat"
 * import { Cluster } from "@troupe/cluster"
 *
 * const adapter = Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })
 * const troupe = await Cluster.start({ adapter })
 * const chat = await troupe.chat("c1")
 * const { finalResponse } = await chat.send("Hello").result()
 * finalResponse?.outputText // => "Hi."
 * await troupe.stop()
 * ```
 */
export const start: Start = (async ({ cluster, ...options }: OneMachineOptions | ClusterNodeOptions) => {
  if (cluster === undefined) return Troupe.start(options)
  const { startNode } = await import("./start.ts")
  return startNode({ ...options, cluster })
}) as Start
