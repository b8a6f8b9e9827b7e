/**
 * What ends the program with one line.
 *
 * @module
 */

/** Something the user can put right: a flag, a key. Its message is all that is printed. */
export class CliError extends Error {
  override readonly name = "CliError"
}
