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
 */
export type ClusterErrorReason = "protocol_mismatch" | "database_failed"

/** A failure of the cluster. The message says what to do, and `cause` is the error of the database. */
export class ClusterError extends Error {
  readonly _tag = "ClusterError"
  readonly reason: ClusterErrorReason

  constructor(reason: ClusterErrorReason, message: string, fields: { readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.reason = reason
  }
}
