/**
 * Failures of the connection between a client and its server.
 *
 * @module
 */

/**
 * The server was not reached, or its answer is not one of this server's. Whether the request was processed is not known. Sending
 * a message again under the same `id` is safe.
 */
export class ConnectionError extends Error {
  readonly _tag = "ConnectionError"
  /** The status of the answer, if there was one. */
  readonly status: number | undefined

  constructor(message: string, fields: { readonly status?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.status = fields.status
  }
}
