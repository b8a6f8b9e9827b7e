/**
 * The operations that each status of a session allows.
 *
 * LEGAL1. The error state is checked first: it allows only `recover`, and the error is `session_in_error_state`.
 * LEGAL2. Any other refusal because of the status is `invalid_status_for_operation`, and lists the allowed operations.
 */
import { SessionError } from "../errors/index.ts"
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

/** Throws when the status does not allow the operation. */
export const requireLegal = (session: Conversation, operation: SessionOperation): void => {
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
