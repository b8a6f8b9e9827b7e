/**
 * Why a project cannot be created.
 *
 * @module
 */

const reasons = [
  "old_node",
  "unknown_option",
  "unknown_choice",
  "not_offered",
  "missing_choice",
  "invalid_folder",
  "folder_not_empty",
  "not_written",
  "install_failed"
] as const

/**
 * Why a project cannot be created.
 *
 * - `old_node`: the templates need a newer Node
 * - `unknown_option`: the command line has an option that does not exist, or an option without its value
 * - `unknown_choice`: an option has a value that is not in its list
 * - `not_offered`: the template has no choice of this option
 * - `missing_choice`: there is no terminal to ask in
 * - `invalid_folder`: the name of the folder gives no name for a package
 * - `folder_not_empty`: the folder has files, or is a file
 * - `not_written`: the folder or a file cannot be written; see `cause`
 * - `install_failed`: the package manager failed; the project is complete
 */
export type CreateErrorReason = (typeof reasons)[number]

/** A project cannot be created. The message says what to do instead. */
export class CreateError extends Error {
  readonly _tag = "CreateError"
  /** What failed. */
  readonly reason: CreateErrorReason

  constructor(reason: CreateErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = this._tag
    this.reason = reason
  }

  /** All reasons there are. */
  static readonly reasons: ReadonlyArray<CreateErrorReason> = Object.freeze(reasons)
}
