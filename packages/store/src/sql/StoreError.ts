/**
 * Failures of a store's database.
 *
 * @module
 */

const reasons = [
  "cannot_open",
  "read_only",
  "not_a_database",
  "another_program",
  "newer_schema",
  "corrupt",
  "busy",
  "full",
  "unreachable",
  "refused",
  "failed"
] as const

/**
 * Why the database failed.
 *
 * - `cannot_open`: there is no such folder, or the file may not be opened
 * - `read_only`: the file or its folder may not be written
 * - `not_a_database`: the file is something else
 * - `another_program`: the database belongs to another program
 * - `newer_schema`: a newer version of this package wrote it
 * - `corrupt`: the file is damaged, or contains an invalid record
 * - `busy`: another program holds its lock
 * - `full`: there is no room left
 * - `unreachable`: the database server does not answer, starts or stops
 * - `refused`: the database server refuses the user or the operation
 * - `failed`: any other failure; see `cause`
 */
export type StoreErrorReason = (typeof reasons)[number]

/**
 * The database of a store failed. The operation was not done, unless a database server became unreachable during it: then
 * it may have been.
 *
 * **Details**: `database` names it, without a password. The message says what to do, and `cause` is the database's error.
 */
export class StoreError extends Error {
  readonly _tag = "StoreError"
  /** What failed. */
  readonly reason: StoreErrorReason
  /** The name of the database, without a password. */
  readonly database: string

  constructor(reason: StoreErrorReason, database: string, message: string, fields: { readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.reason = reason
    this.database = database
  }

  /** All reasons there are. */
  static readonly reasons: ReadonlyArray<StoreErrorReason> = Object.freeze(reasons)
}
