/**
 * The same Troupe on many machines.
 *
 * @module
 */
export type { ChatDown, ChatMonitor } from "./chats/index.ts"
export * as Cluster from "./node/Cluster.ts"
export { ClusterError } from "./placement/index.ts"
export type { ClusterErrorReason } from "./placement/index.ts"
export type { Lease, Placement, PlacementListener } from "./placement/index.ts"
