/**
 * An error that ends the program with one line.
 *
 * @module
 */

/** An error that the user can fix: a flag, a key. Only its message is printed. */
export class CliError extends Error {
  override readonly name = "CliError"
}
