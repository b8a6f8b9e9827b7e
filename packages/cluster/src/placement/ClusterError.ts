/**
 * Failures of a cluster.
 *
 * @module
 */

/**
 * Why the cluster failed.
 *
 * - `protocol_mismatch`: the nodes of this database have other numbers (buckets, hash, protocol of placement) than this program
 * - `database_failed`: the database of placement did not answer in time, or refused a statement; see `cause`
 * - `unreached`: another node was not reached; it did not get the request
 * - `silent`: another node gave no answer in time, or its answer was cut; it may have processed the request
 * - `unauthorized`: another node refused the signature of a request, or its protocol number
 * - `misdirected`: another node is not the home of the conversation; it did not process the request
 * - `invalid_options`: the options make no node of a cluster; the message names the problem
 * - `store_not_shared`: the store is one of this machine only, as SQLite or memory
 * - `stopped`: this node has stopped
 */
export type ClusterErrorReason =
  | "protocol_mismatch"
  | "database_failed"
  | "unreached"
  | "silent"
  | "unauthorized"
  | "misdirected"
  | "invalid_options"
  | "store_not_shared"
  | "stopped"

/** A failure of the cluster. The message says what to do, and `cause` is the error of the database. */
export class ClusterError extends Error {
  readonly _tag = "ClusterError"
  /** What failed. */
  readonly reason: ClusterErrorReason

  constructor(reason: ClusterErrorReason, message: string, fields: { readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.reason = reason
  }
}
