/**
 * The refusals of a server: a code out of a closed set, and a message with what to do.
 *
 * @module
 */

/** Each code and its status. */
const statuses = {
  invalid_json: 400,
  invalid_path: 400,
  invalid_id: 400,
  invalid_host: 400,
  malformed_request: 400,
  unknown_parameter: 400,
  unauthorized: 401,
  forbidden: 403,
  invalid_owner: 403,
  mode_refused: 403,
  origin_refused: 403,
  host_refused: 403,
  not_found: 404,
  unknown_agent: 404,
  unknown_chat: 404,
  unknown_commit: 404,
  unknown_input: 404,
  unknown_task: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  busy: 409,
  already_delivered: 409,
  awaiting_tool_results: 409,
  awaiting_approval: 409,
  awaiting_user: 409,
  chat_exists: 409,
  invalid_status_for_operation: 409,
  no_question: 409,
  not_a_step: 409,
  nothing_to_retry: 409,
  other_agent: 409,
  session_in_error_state: 409,
  store_conflict: 409,
  tool_call_not_running: 409,
  unknown_tool: 409,
  unknown_tool_call_id: 409,
  unpaired_tool_calls: 409,
  withdrawn: 409,
  chat_stopped: 410,
  body_too_large: 413,
  message_too_long: 413,
  unsupported_media_type: 415,
  misdirected: 421,
  invalid_input: 422,
  inbox_full: 429,
  rate_limited: 429,
  too_many_bytes: 429,
  too_many_conversations: 429,
  too_many_streams: 429,
  headers_too_large: 431,
  internal: 500,
  invalid_record: 500,
  store_without_log: 501,
  store_without_waiting: 501,
  store_without_memories: 501,
  chat_died: 503,
  closing: 503,
  moved: 503,
  node_unreached: 503,
  overloaded: 503,
  store_closed: 503,
  store_failed: 503,
  store_fenced: 503,
  troupe_stopped: 503,
  home_silent: 504,
  node_silent: 504
} as const

/** Why a request was refused. */
export type ErrorCode = keyof typeof statuses

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
  /** The status of the answer, from 400. */
  readonly status: number
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
    this.status = statuses[code]
    this.issues = fields.issues
    this.retryAfterMs = fields.retryAfterMs
    this.id = fields.id
    this.headers = fields.headers
    this.decided = fields.decided
  }

  /** The header of an unknown outcome: OpenAI's client, whose messages have no ids, does not send the request again. */
  static readonly noResend = { "x-should-retry": "false" } as const

  /** Whether a word is one of the codes. */
  static isCode(value: unknown): value is ErrorCode {
    return typeof value === "string" && Object.hasOwn(statuses, value)
  }
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
