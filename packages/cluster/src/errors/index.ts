/** The errors of this package. */
export { ClusterError } from "./ClusterError.ts"
export type { ClusterErrorReason } from "./ClusterError.ts"
