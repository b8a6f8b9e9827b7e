/**
 * The refusals of a server: a code out of a closed set, and a message with what to do.
 *
 * @module
 */

import type { ErrorCode } from "./statuses.ts"

export { type ErrorCode, isErrorCode, statusOf } from "./statuses.ts"

/** One problem of a value, and its place. */
export interface Issue {
  /** The path of the value, of names and indexes. */
  readonly field: ReadonlyArray<string | number>
  /** What is wrong, and what to send instead. */
  readonly reason: string
}

/** What was decided about a call before. */
export interface DecidedCall {
  /** The type of the decision. */
  readonly type?: string | undefined
  /** The reason of the decision. */
  readonly reason?: string | undefined
  /** The outcome of a call that is over. */
  readonly outcome?: string | undefined
}

/** The optional fields of an error. */
export interface HttpErrorFields {
  /** The status of the answer that a client got. */
  readonly status?: number | undefined
  /** The problems of the body, the parameters or the options. */
  readonly issues?: ReadonlyArray<Issue> | undefined
  /** The milliseconds after which a retry makes sense. */
  readonly retryAfterMs?: number | undefined
  /** The id of an unexpected error, which `onError` got too. */
  readonly id?: string | undefined
  /** The error that led to this one. */
  readonly cause?: unknown
  /** Headers that are sent with the error. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What was decided before, for a decision that came second. */
  readonly decided?: DecidedCall | undefined
}

/** The JSON form of a refusal: `{ "error": { "code", "message", … } }`. */
export interface ErrorBody {
  /** The code, a text that says what to do, and the optional fields of an `HttpError`. */
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly issues?: ReadonlyArray<Issue>
    readonly retryAfterMs?: number
    readonly id?: string
    readonly decided?: DecidedCall
  }
}

/**
 * A request was refused.
 *
 * **Details**: an error that a handler throws becomes the response, and a client rejects with the same error. `cause` is
 * for the program that serves, and is never sent.
 */
export class HttpError extends Error {
  readonly _tag = "HttpError"
  /** What failed, for programs. */
  readonly code: ErrorCode
  /** The status of the answer, for a client. A server takes `statusOf(code)`: a page does not need the table of all codes. */
  readonly status: number | undefined
  /** The problems of the body, the parameters or the options. */
  readonly issues: ReadonlyArray<Issue> | undefined
  /** The milliseconds after which a retry makes sense. */
  readonly retryAfterMs: number | undefined
  /** The id of an unexpected error, which `onError` got too. */
  readonly id: string | undefined
  /** Headers that are sent with the error. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** What was decided before, for a decision that came second. */
  readonly decided: DecidedCall | undefined

  constructor(code: ErrorCode, message: string, fields: HttpErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = this._tag
    this.code = code
    this.status = fields.status
    this.issues = fields.issues
    this.retryAfterMs = fields.retryAfterMs
    this.id = fields.id
    this.headers = fields.headers
    this.decided = fields.decided
  }

  /** The header of an unknown outcome: OpenAI's client, whose messages have no ids, does not send the request again. */
  static readonly noResend = { "x-should-retry": "false" } as const
}

/** The part of an error that is sent. */
export const bodyOf = ({ code, message, issues, retryAfterMs, id, decided }: HttpError): ErrorBody => ({
  error: {
    code,
    message,
    ...(issues === undefined ? {} : { issues }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(id === undefined ? {} : { id }),
    ...(decided === undefined ? {} : { decided })
  }
})
