/**
 * The same Troupe on many machines.
 *
 * @module
 */
export { ClusterError } from "./placement/index.ts"
export type { ClusterErrorReason } from "./placement/index.ts"
export type { Lease, Placement, PlacementListener } from "./placement/index.ts"
