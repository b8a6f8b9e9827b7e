/**
 * Failures of an MCP server.
 *
 * @module
 */

/**
 * Why an MCP server cannot be used.
 *
 * - `connection_failed`: it could not be started or reached, or did not answer the handshake
 * - `sign_in_required`: it needs a sign-in of the user, and the option `auth` opens no page
 * - `not_connected`: it is down, and the call was not sent
 * - `connection_lost`: it ended, or lost our session. A call that ran then may have had an effect
 */
export type McpErrorReason = "connection_failed" | "sign_in_required" | "not_connected" | "connection_lost"

const advice: Readonly<Record<McpErrorReason, string>> = {
  connection_failed: "could not be reached; check its command or URL",
  sign_in_required: "needs a sign-in of the user",
  not_connected: "is not connected; call again when it is",
  connection_lost: "was lost; a call that ran may have had an effect"
}

/**
 * An MCP server cannot be used: the rejection of a start, or the exit reason of the server's process. The message ends with the
 * last text of the server's standard error.
 */
export class McpError extends Error {
  readonly _tag = "McpError"
  /** What failed. */
  readonly reason: McpErrorReason
  /** The name of the server. */
  readonly server: string

  constructor(
    reason: McpErrorReason,
    server: string,
    fields: { readonly cause?: unknown; readonly output?: string } = {}
  ) {
    const cause = fields.cause instanceof Error ? `: ${fields.cause.message}` : ""
    const output = fields.output === undefined || fields.output === "" ? "" : `\n${fields.output}`
    super(
      `The MCP server ${server} ${advice[reason]}${cause}${output}`,
      fields.cause === undefined ? undefined : { cause: fields.cause }
    )
    this.name = this._tag
    this.reason = reason
    this.server = server
  }
}
