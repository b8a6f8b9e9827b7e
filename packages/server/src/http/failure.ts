/** Maps errors to refusals: foreign errors are mapped here, once. */
import { SessionError, ToolError, ValidationError } from "@troupe/chat/errors"
import {
  bodyOf,
  type DecidedCall,
  type ErrorBody,
  type ErrorCode,
  HttpError,
  isErrorCode,
  statusOf
} from "../errors/index.ts"

/** Our own texts: the messages of the errors contain internal ids. */
const advice: Readonly<Partial<Record<ErrorCode, string>>> = {
  busy: "A turn runs or waits in this conversation; wait for it, or send with another whenBusy",
  inbox_full:
    "Too many messages wait in this conversation, or too long ones; send this again when one has been answered",
  already_delivered: "This message is in the conversation already; while its turn runs, cancel that turn",
  unknown_input: "No such message waits or runs in this conversation; inbox of its view lists those that wait",
  no_question: "The conversation does not ask this now; send a message instead",
  withdrawn: "This message was withdrawn before its turn began",
  awaiting_tool_results: "The conversation waits for tool results; give them first",
  awaiting_approval: "The conversation waits for decisions about tool calls; give them first",
  chat_exists: "There is a conversation of this id already; choose another",
  unknown_chat: "There is no such conversation; send a message to begin one",
  unknown_agent: "The server has no agent of this name, or not the one that the conversation has",
  other_agent: "The conversation has another agent; hand it over with POST /chats/:id/handoff",
  unknown_tool: "The server has no tool of this name, so the call waits; deny it, or give its result",
  unknown_commit: "The conversation has no such entry; its history lists those it has",
  not_a_step: "A step is open at this entry; choose one whose isStep is true",
  store_conflict: "Another program has written to this conversation; read it again",
  store_fenced: "Another server has this conversation now; try again soon",
  store_without_memories: "This server's store keeps no memories",
  store_without_waiting: "This server's store does not list what conversations wait for",
  store_without_log: "This server's store keeps no log; it takes one that does",
  invalid_status_for_operation: "The conversation does not wait for this now",
  mode_refused:
    "You may not set a permission mode this loose; the server's `authorize` permits it with may: { mode }, which is the host's mode by default",
  nothing_to_retry: "Nothing was said yet in this conversation; send something",
  unpaired_tool_calls:
    "A tool call has no result right after it, or a result has no call; send each call with its result, or leave both out",
  unknown_tool_call_id: "The conversation does not wait for anything about this call, or no longer",
  unknown_task: "The conversation has no such background task",
  tool_call_not_running: "No such call runs, or no longer",
  chat_stopped: "The conversation was stopped; ask again",
  moved: "The conversation goes on in another place, and its state is stored; ask again",
  overloaded: "The server has as many conversations as it can run now; try again soon",
  chat_died: "The conversation's process died, and was started again with what was committed; retry",
  store_failed: "What was said could not be stored; try again",
  store_closed: "The server's store is closed; try again soon",
  invalid_record: "What is stored of this conversation cannot be read; the server's operator can mend it",
  troupe_stopped: "The server is closing; try again soon"
}

const unknownOutcome = "Whether this was stored is not known; send it again under the same id, and it is stored once"

const retryLater: ReadonlySet<string> = new Set([
  "chat_died",
  "inbox_full",
  "moved",
  "overloaded",
  "store_closed",
  "store_failed",
  "store_fenced",
  "troupe_stopped"
])

/** The refusal of an operation that a conversation cannot do. */
export const refused = (code: ErrorCode, fields: ConstructorParameters<typeof HttpError>[2] = {}): HttpError =>
  new HttpError(code, advice[code] ?? "The conversation cannot do this now", fields)

/** Maps an error to its refusal, and an unexpected error to `undefined`. */
export const refusalOf = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error
  if (error instanceof ValidationError) {
    const tooLarge = error.reason === "invalid_message" ? fileBound(error) : undefined
    if (tooLarge !== undefined) return tooLarge
    return new HttpError("invalid_input", "What was given is not valid; `issues` says what", {
      issues: error.errors,
      cause: error
    })
  }
  if (error instanceof ToolError) {
    return new HttpError("invalid_input", "What was given as a result has no JSON form", { cause: error })
  }
  if (error instanceof SessionError && isErrorCode(error.reason)) {
    const { reason, metadata } = error
    const decided = reason === "unknown_tool_call_id" ? decidedIn(metadata) : undefined
    if (decided !== undefined) {
      const message = `This call was decided before: ${decided.type ?? decided.outcome}`
      return new HttpError(reason, message, { cause: error, decided })
    }
    const fields = { cause: error, ...(retryLater.has(reason) ? { retryAfterMs: 1_000 } : {}) }
    return metadata["outcome"] === "unknown"
      ? new HttpError(reason, unknownOutcome, { ...fields, headers: HttpError.noResend })
      : refused(reason, fields)
  }
  return undefined
}

/** The refusal of a message with too many bytes in its images and files, or in those of its conversation (MEDIA3, CHATBLOB5). */
const fileBound = (error: ValidationError): HttpError | undefined => {
  const { errors: issues } = error
  const fields = { issues, cause: error }
  const [reason = ""] = issues.map((issue) => issue.reason)
  if (/^must_have_at_most \d+ bytes in images and files/u.test(reason)) {
    return new HttpError(
      "message_too_long",
      "The images and files of this message are too large; `issues` has the bound",
      fields
    )
  }
  return reason.startsWith("must_fit_into_the_conversation ")
    ? new HttpError("too_many_bytes", "The conversation has too many images and files; `issues` has the bound", fields)
    : undefined
}

/** What the error says was decided, without arguments and values. */
const decidedIn = ({ decision, outcome }: SessionError["metadata"]): DecidedCall | undefined => {
  const { type, reason } = (decision ?? {}) as DecidedCall
  if (type === undefined && typeof outcome !== "string") return undefined
  return {
    ...(type === undefined ? {} : { type }),
    ...(reason === undefined ? {} : { reason }),
    ...(typeof outcome === "string" ? { outcome } : {})
  }
}

/** The part of an error that another node gets: also the metadata of the chat's error, if it has a JSON form. */
export const nodeBodyOf = (refusal: HttpError): ErrorBody => {
  const body = bodyOf(refusal)
  const { cause } = refusal
  if (!(cause instanceof SessionError)) return body
  try {
    const error = { ...body.error, metadata: JSON.parse(JSON.stringify(cause.metadata)) as unknown }
    return { error }
  } catch {
    return body
  }
}

/** The response of a refusal, in this server's own JSON. */
export const responseOfRefusal = (error: HttpError, json: (refusal: HttpError) => ErrorBody = bodyOf): Response =>
  Response.json(json(error), { status: statusOf(error.code), headers: { ...error.headers, ...retryAfter(error) } })

/** The `retry-after` header, in whole seconds. */
export const retryAfter = ({ retryAfterMs }: HttpError): Readonly<Record<string, string>> =>
  retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }

const movedCodes: ReadonlySet<string> = new Set(["closing", "moved", "troupe_stopped"])

/** Whether the error says that the chat has left this node. */
export const isMoved = (error: unknown): boolean =>
  (error instanceof SessionError && movedCodes.has(error.reason)) ||
  (error instanceof HttpError && movedCodes.has(error.code))
