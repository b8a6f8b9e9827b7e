/**
 * The placement on the engine `effect/cluster`, with PostgreSQL.
 *
 * @module
 */
import type { Placement } from "../placement/index.ts"
import { shardEngine } from "./shardEngine.ts"
import { type EffectPlacementOptions, startPlacement } from "./startPlacement.ts"

export type { EffectPlacementOptions } from "./startPlacement.ts"

/**
 * Starts the placement of this node, and joins the cluster.
 *
 * **Errors**: rejects with a `ClusterError`: `protocol_mismatch`, `database_failed`.
 */
export const start = (options: EffectPlacementOptions): Promise<Placement> => startPlacement(options, shardEngine)
