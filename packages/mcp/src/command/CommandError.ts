/**
 * Why a command cannot run.
 *
 * @module
 */

/** The command cannot run. The message says what to do instead. */
export class CommandError extends Error {
  override readonly name = "CommandError"
}
