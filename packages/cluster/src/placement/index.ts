export { bucketsOf, protocol, shardCount, shardOf } from "./bucket.ts"
export { ClusterError } from "./ClusterError.ts"
export type { ClusterErrorReason } from "./ClusterError.ts"
export type { Lease, Placement, PlacementListener } from "./Placement.ts"
