/**
 * The errors of this package.
 *
 * @module
 */

/**
 * Why an operation of a cluster failed.
 *
 * - `invalid_options`: the options make no usable node; `cluster` has the problems
 * - `store_not_shared`: the store is one of this machine only, as SQLite or memory
 * - `unreached`: the other node was not reached; it did not get the request
 * - `silent`: the other node gave no answer in time, or its answer was cut; it may have processed the request
 * - `unauthorized`: the other node refused the signature of the request, or its protocol number
 * - `misdirected`: the other node is not the home of the conversation; it did not process the request
 * - `stopped`: this node has stopped
 */
export type ClusterErrorReason =
  | "invalid_options"
  | "store_not_shared"
  | "unreached"
  | "silent"
  | "unauthorized"
  | "misdirected"
  | "stopped"

/** An operation of a cluster failed. The message has the next step. */
export class ClusterError extends Error {
  readonly _tag = "ClusterError"
  readonly reason: ClusterErrorReason

  constructor(reason: ClusterErrorReason, message: string, fields: { readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.reason = reason
  }
}
