/**
 * The operations that each status of a session allows.
 *
 * LEGAL1. The error state is checked first: it allows only `recover`, and the error is `session_in_error_state`.
 * LEGAL2. Any other refusal because of the status is `invalid_status_for_operation`, and lists the allowed operations.
 * S3. Calls and a question wait together only when one batch had both; the calls must be answered first.
 */
import { isRecord, SessionError, ValidationError } from "../errors/index.ts"
import { type Conversation, type ConversationStatus, statusOf } from "../record/index.ts"

/** The operations of a session that depend on its status; all others are always allowed. */
export type SessionOperation =
  | "start"
  | "reply"
  | "continue"
  | "step"
  | "approve"
  | "submitToolResult"
  | "submitToolResults"
  | "cancel"
  | "recover"

const ready: ReadonlyArray<SessionOperation> = ["start", "reply", "continue", "step", "cancel"]

const legal: Readonly<Record<ConversationStatus, ReadonlyArray<SessionOperation>>> = {
  idle: ready,
  completed: ready,
  cancelled: ready,
  interrupted: ready,
  awaiting_user: ["reply", "continue", "cancel"],
  awaiting_tools: ["submitToolResult", "submitToolResults", "cancel"],
  awaiting_approval: ["approve", "cancel"],
  error: ["recover"]
}

/** Throws a `ValidationError` (`invalid_session_input`) for a value that is no session. */
export const requireSession = (value: unknown): void => {
  const thread = isRecord(value) ? value["thread"] : undefined
  const isSession = isRecord(value) && isRecord(thread) && Array.isArray(thread["messages"])
  if (isSession && Array.isArray(value["pendingToolCalls"])) return
  const isTurn = isRecord(value) && isRecord(value["session"])
  const advice = isTurn ? "pass the `session` of this result" : "Session.start and Session.make make one"
  throw new ValidationError("invalid_session_input", [{ field: ["session"], reason: "must_be_a_session" }], { advice })
}

/** Throws when the status does not allow the operation, and for a value that is no session. */
export const requireLegal = (session: Conversation, operation: SessionOperation): void => {
  requireSession(session)
  const status = statusOf(session)
  const now = Object.hasOwn(legal, status) ? legal[status] : []
  if (now.includes(operation)) return
  if (status !== "error") throw invalidStatus(status, operation, now)
  throw new SessionError(
    "session_in_error_state",
    `The session ended in an error: ${operation} is not possible; Session.recover leaves the error state, lastOutcome.error says what went wrong`,
    { metadata: { operation } }
  )
}

/** Throws when `continue` is not allowed: an open question requires a user message. */
export const requireContinuable = (session: Conversation, role: string | undefined): void => {
  requireLegal(session, "continue")
  if (role === "user" || statusOf(session) !== "awaiting_user") return
  const operation = role === undefined ? "continue without a message" : `continue with a message of ${role}`
  throw invalidStatus("awaiting_user", operation, ["reply", "cancel"])
}

const invalidStatus = (
  status: ConversationStatus,
  operation: string,
  now: ReadonlyArray<SessionOperation>
): SessionError =>
  new SessionError(
    "invalid_status_for_operation",
    `The session is ${status}: ${operation} is not possible now; legal now: ${now.join(", ") || "nothing"}`,
    { metadata: { operation, status, legal: now } }
  )
