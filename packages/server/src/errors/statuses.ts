/**
 * The codes of refusals, and the status of each. Only a server loads this table: a client gets the status with its answer.
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

/** Why a request was refused. A client may get the code of a newer server, which is not listed here. */
export type ErrorCode = keyof typeof statuses

/** Whether a word is one of the codes. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(statuses, value)

/** The status, from 400, of an answer with this code. */
export const statusOf = (code: ErrorCode): number => statuses[code]
