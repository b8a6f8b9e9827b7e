/**
 * The errors of this package. A call that can fail fails with one of these errors; a bug is a crash.
 *
 * Each error has a `_tag`, a `reason` from a closed set, a message with the next step, and an optional `cause`.
 *
 * @module
 */

/** The common fields of every error, beside its reason. */
export interface ErrorFields {
  readonly message?: string | undefined
  readonly cause?: unknown
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

abstract class TroupeError<Reason extends string> extends Error {
  abstract readonly _tag: string
  readonly reason: Reason
  readonly metadata: Readonly<Record<string, unknown>>

  constructor(reasons: ReadonlyArray<Reason>, reason: Reason, message: string, fields: ErrorFields) {
    super(fields.message ?? message, fields.cause === undefined ? undefined : { cause: fields.cause })
    if (!reasons.includes(reason)) {
      throw new TypeError(`"${reason}" is not a reason of this error; use one of ${reasons.join(", ")}`)
    }
    this.reason = reason
    this.metadata = fields.metadata ?? {}
  }
}

const adapterReasons = [
  "rate_limited",
  "authentication_failed",
  "invalid_request",
  "provider_unavailable",
  "context_length_exceeded",
  "context_too_large",
  "content_filter",
  "timeout",
  "network_error",
  "malformed_response",
  "reply_too_large",
  "unsupported_feature",
  "no_scripted_response",
  "unknown"
] as const

/**
 * Why a model request failed.
 *
 * - `malformed_response`: the provider or the adapter yielded an invalid value
 * - `context_too_large`: the request exceeds the bound of the option `compaction`, and no compaction helps; `metadata.part` is its
 *   largest part. Nothing was sent
 * - `reply_too_large`: the reply exceeded `maxReplyCharacters`, or its files `maxFileBytes`
 * - `no_scripted_response`: the fake adapter has no script left
 * - the others are errors of the provider
 */
export type AdapterErrorReason = (typeof adapterReasons)[number]

/**
 * A model request failed. Before its stream opened, the call rejects with this error; after that, the error is an `error` event
 * and `metadata.error` of the response.
 */
export class AdapterError extends TroupeError<AdapterErrorReason> {
  readonly _tag = "AdapterError"
  /** The name of the provider; `undefined` if it is not known. */
  readonly provider: string | undefined
  /** The HTTP status of the answer, if there was one. */
  readonly status: number | undefined
  /** The delay that the provider asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The provider's id of the request. */
  readonly requestId: string | undefined

  constructor(
    reason: AdapterErrorReason,
    fields: ErrorFields & {
      readonly provider?: string | undefined
      readonly status?: number | undefined
      readonly retryAfterMs?: number | undefined
      readonly requestId?: string | undefined
    } = {}
  ) {
    const from = fields.provider === undefined ? "" : ` (${fields.provider})`
    super(adapterReasons, reason, `The model request failed${from}: ${reason.replaceAll("_", " ")}`, fields)
    this.name = this._tag
    this.provider = fields.provider
    this.status = fields.status
    this.retryAfterMs = fields.retryAfterMs
    this.requestId = fields.requestId
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<AdapterErrorReason> = Object.freeze(adapterReasons)

  /** Whether a value is one of the reasons of an adapter's error. */
  static isReason(value: unknown): value is AdapterErrorReason {
    return adapterReasons.some((reason) => reason === value)
  }
}

const engineReasons = [
  "missing_adapter",
  "missing_stream_adapter",
  "missing_model",
  "unknown_tool",
  "invalid_engine"
] as const

/** Why an engine is not usable. */
export type EngineErrorReason = (typeof engineReasons)[number]

const engineAdvice: Record<EngineErrorReason, string> = {
  missing_adapter: "There is no adapter; pass one, for example Troupe.start({ adapter }) or Engine.make({ adapter })",
  missing_stream_adapter: "The engine's adapter has no stream function; adapters must be able to stream",
  missing_model: "No model was chosen; set `model` on the engine or on the call",
  unknown_tool: "The model called a tool that is not registered; add it to the engine's tools",
  invalid_engine: "The engine is not usable"
}

/** The engine cannot handle the request. `metadata.toolName` names an unknown tool. */
export class EngineError extends TroupeError<EngineErrorReason> {
  readonly _tag = "EngineError"
  /** The name of the provider; `undefined` if it is not known. */
  readonly provider: string | undefined

  constructor(reason: EngineErrorReason, fields: ErrorFields & { readonly provider?: string | undefined } = {}) {
    super(engineReasons, reason, engineAdvice[reason], fields)
    this.name = this._tag
    this.provider = fields.provider
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<EngineErrorReason> = Object.freeze(engineReasons)
}

const streamReasons = ["adapter_error", "cancelled", "timeout", "malformed_event", "unknown"] as const

/** Why a stream broke. */
export type StreamErrorReason = (typeof streamReasons)[number]

/** The transport of an open stream failed. */
export class StreamError extends TroupeError<StreamErrorReason> {
  readonly _tag = "StreamError"
  /** The name of the provider; `undefined` if it is not known. */
  readonly provider: string | undefined
  /** The index of the first missing event, from 0. */
  readonly eventIndex: number | undefined

  constructor(
    reason: StreamErrorReason,
    fields: ErrorFields & { readonly provider?: string | undefined; readonly eventIndex?: number | undefined } = {}
  ) {
    super(streamReasons, reason, `The stream broke: ${reason.replaceAll("_", " ")}`, fields)
    this.name = this._tag
    this.provider = fields.provider
    this.eventIndex = fields.eventIndex
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<StreamErrorReason> = Object.freeze(streamReasons)
}

const toolReasons = [
  "handler_raised",
  "handler_exit",
  "timeout",
  "invalid_return",
  "not_found",
  "encoding_failed",
  "result_too_large",
  "invalid_arguments",
  "denied",
  "cancelled",
  "too_many_calls",
  "outcome_unknown",
  "child_refused",
  "child_failed",
  "task_refused"
] as const

/**
 * Why a tool call failed.
 *
 * - `handler_raised`: the handler threw; `cause` is the exception
 * - `handler_exit`: the handler exited, or its process died; `cause` is the exit reason
 * - `timeout`: the deadline passed
 * - `invalid_return`: the handler returned none of the four outcomes; `cause` is the returned value
 * - `not_found`: there is no such tool, or it has no handler
 * - `encoding_failed`: the result could not be turned into text
 * - `result_too_large`: the result exceeds `maxToolResultCharacters` or `maxFileBytes`
 * - `invalid_arguments`: the arguments do not fit the tool's schema, are not JSON, or exceed `maxToolArgumentCharacters`
 * - `denied`: a gate refused the call
 * - `cancelled`: the call was cancelled
 * - `too_many_calls`: its reply has more calls than `maxCallsPerReply`, and it is one of the others
 * - `outcome_unknown`: a handler returned this error, because it cannot say whether its call took effect
 * - `child_refused`: a sub-agent was not started, because of a bound; `metadata` has the bound
 * - `child_failed`: a sub-agent ended without an answer; `metadata` has its `haltedReason`, or `cause` its error
 * - `task_refused`: no background task was begun, because the chat has `maxTasks` of them
 */
export type ToolErrorReason = (typeof toolReasons)[number]

/** A tool call failed. */
export class ToolError extends TroupeError<ToolErrorReason> {
  readonly _tag = "ToolError"
  /** The name of the tool; `undefined` if it is not known. */
  readonly toolName: string | undefined
  /** The id of the call; `undefined` if it is not known. */
  readonly toolCallId: string | undefined

  constructor(
    reason: ToolErrorReason,
    fields: ErrorFields & { readonly toolName?: string | undefined; readonly toolCallId?: string | undefined } = {}
  ) {
    const of = fields.toolName === undefined ? "" : ` (${fields.toolName})`
    super(toolReasons, reason, `The tool call failed${of}: ${reason.replaceAll("_", " ")}`, fields)
    this.name = this._tag
    this.toolName = fields.toolName
    this.toolCallId = fields.toolCallId
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<ToolErrorReason> = Object.freeze(toolReasons)
}

const validationReasons = [
  "invalid_request",
  "invalid_message",
  "invalid_tool",
  "invalid_thread",
  "invalid_session",
  "invalid_session_input",
  "invalid_options",
  "invalid_output",
  "unencodable",
  "undecodable"
] as const

/**
 * Which value was invalid.
 *
 * - `invalid_request`, `invalid_message`, `invalid_tool`, `invalid_thread`, `invalid_session`: a value of that kind
 * - `invalid_session_input`: the first input of a session
 * - `invalid_options`: the options of a call
 * - `invalid_output`: a response that does not fit the schema it was asked for
 * - `unencodable`: a value that has no JSON form
 * - `undecodable`: a text that is not JSON, or not the JSON form of a value
 */
export type ValidationErrorReason = (typeof validationReasons)[number]

/** One finding: the path of an invalid value, and the reason. */
export interface Finding {
  /** The path of the value, of names and indexes. */
  readonly field: ReadonlyArray<string | number>
  /** What is wrong, and what to write instead. */
  readonly reason: string
}

/** The advice for reasons that are codes. */
const advice: ReadonlyMap<string, string> = new Map([
  ["invalid_format", "use 1 to 64 letters, digits, _ or -"],
  [
    "invalid_part_type",
    'write { type: "text", text }, { type: "image", image: { url } } or { type: "image", image: { base64, mediaType } }, ' +
      'or { type: "file", file: { url }, mediaType } or { type: "file", file: { base64 }, mediaType }'
  ],
  ["unresolvable_image", "image.base64 must be base64 text without a data: prefix"],
  ["unresolvable_file", "file.base64 must be base64 text without a data: prefix"]
])

const described = ({ field, reason }: Finding): string => {
  const hint = advice.get(reason)
  const text = hint === undefined ? reason : `${reason}; ${hint}`
  return field.length === 0 ? text : `${field.join(".")}: ${text}`
}

/** A value given to this package is not valid; `errors` lists every finding. `advice` ends the message. */
export class ValidationError extends TroupeError<ValidationErrorReason> {
  readonly _tag = "ValidationError"
  /** Every finding. */
  readonly errors: ReadonlyArray<Finding>

  constructor(
    reason: ValidationErrorReason,
    errors: ReadonlyArray<Finding>,
    fields: ErrorFields & { readonly advice?: string | undefined } = {}
  ) {
    if (!Array.isArray(errors)) throw new TypeError("The errors of a ValidationError are a list of findings")
    const found = errors.map(described)
    const list = (fields.advice === undefined ? found : [...found, fields.advice]).join("; ")
    super(validationReasons, reason, `Validation failed, ${reason.replaceAll("_", " ")}: ${list}`, fields)
    this.name = this._tag
    this.errors = errors
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<ValidationErrorReason> = Object.freeze(validationReasons)
}

const sessionReasons = [
  "session_in_error_state",
  "invalid_status_for_operation",
  "unpaired_tool_calls",
  "awaiting_tool_results",
  "awaiting_approval",
  "unknown_tool_call_id",
  "tool_call_not_running",
  "unknown_task",
  "mode_refused",
  "busy",
  "inbox_full",
  "already_delivered",
  "unknown_input",
  "no_question",
  "withdrawn",
  "nothing_to_retry",
  "store_failed",
  "store_conflict",
  "store_fenced",
  "store_closed",
  "store_without_log",
  "store_without_waiting",
  "store_without_memories",
  "unknown_chat",
  "unknown_agent",
  "unknown_tool",
  "other_agent",
  "unknown_commit",
  "not_a_step",
  "chat_exists",
  "invalid_record",
  "chat_died",
  "chat_stopped",
  "moved",
  "overloaded",
  "troupe_stopped"
] as const

/**
 * Why a session or a living chat refused or lost an operation.
 *
 * - `session_in_error_state`: the session ended in an error; `Session.recover` leaves it
 * - `invalid_status_for_operation`: not allowed while the session has this status; `metadata.legal` lists the allowed
 *   operations
 * - `unpaired_tool_calls`: a call of the thread has no result, or a result no call; `metadata.toolCallId` names it
 * - `awaiting_tool_results`: results must come first
 * - `awaiting_approval`: decisions about tool calls must come first; `metadata.toolCallIds` names the calls
 * - `unknown_tool_call_id`: no result of that call and no decision about it is awaited (any longer);
 *   `metadata.toolCallId` names the call. `metadata.decision` is what was decided before, and `metadata.outcome` how the call ended, if
 *   they are known
 * - `tool_call_not_running`: no call of that id can be cancelled or restarted (any longer); `metadata.toolCallId` names
 *   the id
 * - `unknown_task`: the chat has no background task of that id; `metadata.task` is the id
 * - `mode_refused`: a client may not set a permission mode this loose; `metadata.loosest` is the loosest it may set
 * - `busy`: a turn runs or waits in the chat, and the sender chose `whenBusy: "reject"`
 * - `inbox_full`: the maximum of inputs, or of bytes of inputs, waits in the chat. Nothing of this input was stored,
 *   and it may be sent again, also under the same id. `metadata` has `waiting`, `maxWaitingInputs` and
 *   `maxWaitingBytes` or `maxWaitingFileBytes`
 * - `already_delivered`: an input of that id is in the chat's thread, and its turn runs or is over; `metadata.input` is the id
 * - `no_question`: an answer came, and the chat asks no question
 * - `unknown_input`: no input of that id waits in the chat, and it has no turn of that id; `metadata.input` is the id
 * - `withdrawn`: the input was withdrawn before its turn began
 * - `nothing_to_retry`: the thread has no input yet
 * - `store_failed`: the store failed or did not answer in time
 * - `invalid_record`: the store returned a value that is not a record
 * - `store_conflict`: another program wrote the conversation meanwhile
 * - `store_fenced`: a newer epoch of the key was claimed, so that writes of this epoch are refused; `metadata` names both. Or
 *   this program is not the home of the conversation, and `metadata` names that
 * - `unknown_chat`, `unknown_commit`: the store has no such conversation, or no such entry of it; `metadata` names them
 * - `unknown_agent`: the Troupe has no agent of the name that the caller or the stored conversation gives; `metadata.agent` is
 *   the name, truncated, and `metadata.closest` the name of the agent that is closest to it, if any. Nothing was stored, and nothing is lost
 * - `unknown_tool`: the Troupe, or the agent, has no tool for a call that was to be allowed; the call still waits.
 *   `metadata.toolName` is the name
 * - `other_agent`: the conversation has another agent than the caller gives; `metadata.agent` is its agent. Hand it over with
 *   `chat.handoff`
 * - `not_a_step`: a step was open at that entry, so that no conversation can begin there
 * - `chat_exists`: a conversation of that id exists already
 * - `store_without_log`: the store keeps only the newest record
 * - `store_without_waiting`: the store does not list what conversations wait for
 * - `store_without_memories`: the store keeps no memories
 * - `store_closed`: the store was closed
 * - `chat_died`, `chat_stopped`, `troupe_stopped`: the process is gone
 * - `moved`: the chat has left this process, and its next start continues it; ask `troupe.chat(id)` again. With the option
 *   `home`, the next start may be in another program
 * - `overloaded`: `maxLiveChats` chats have a process, and none of them is idle; nothing was loaded or stored
 */
export type SessionErrorReason = (typeof sessionReasons)[number]

/**
 * A session or a living chat could not perform an operation.
 *
 * **Details**: `chat_died` means that the process died during a turn. Its supervisor has restarted it from the last
 * committed step, so `retry()` continues from there.
 */
export class SessionError extends TroupeError<SessionErrorReason> {
  readonly _tag = "SessionError"

  constructor(reason: SessionErrorReason, message?: string, fields: Omit<ErrorFields, "message"> = {}) {
    const own = `The session could not do this: ${reason.replaceAll("_", " ")}`
    super(sessionReasons, reason, own, { ...fields, message })
    this.name = this._tag
  }

  /** All reasons that the error can have. */
  static readonly reasons: ReadonlyArray<SessionErrorReason> = Object.freeze(sessionReasons)
}

/** The errors before the first event of a step. */
export type PreflightError = EngineError | AdapterError | ValidationError

/** Whether a value is a `PreflightError`. */
export const isPreflightError = (value: unknown): value is PreflightError =>
  value instanceof EngineError || value instanceof AdapterError || value instanceof ValidationError
