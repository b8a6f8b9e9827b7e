/**
 * What can go wrong between a client and its server.
 *
 * @module
 */

/**
 * A server was not reached, or its answer is not one of this server's: whether what was asked was done is not known.
 *
 * **Details**: `status` is the answer's, where there was one. Saying something again under the same `id` is safe.
 */
export class ConnectionError extends Error {
  readonly _tag = "ConnectionError"
  readonly status: number | undefined

  constructor(message: string, fields: { readonly status?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.status = fields.status
  }
}
