/**
 * The operations that each session status allows.
 *
 * LEGAL1. The error state is checked first: it allows only `recover`, and the error is `session_in_error_state`.
 * LEGAL2. Any other refusal because of the status is `invalid_status_for_operation`, and lists the allowed operations.
 */
import { SessionError } from "../errors/index.ts"
import type { Session, SessionStatus } from "./sessionState.ts"

/** The operations of a session that depend on its status; all others are always allowed. */
export type SessionOperation =
  | "start"
  | "reply"
  | "continue"
  | "step"
  | "submitToolResult"
  | "submitToolResults"
  | "cancel"
  | "recover"

const ready: ReadonlyArray<SessionOperation> = ["start", "reply", "continue", "step", "cancel"]

const legal: Readonly<Record<SessionStatus, ReadonlyArray<SessionOperation>>> = {
  idle: ready,
  completed: ready,
  cancelled: ready,
  awaiting_user: ["reply", "continue", "cancel"],
  awaiting_tools: ["submitToolResult", "submitToolResults", "cancel"],
  error: ["recover"]
}

/** Throws when the status does not allow the operation. */
export const requireLegal = (session: Session, operation: SessionOperation): void => {
  const refused = illegal(session, operation)
  if (refused !== undefined) throw refused
}

/** Why the status does not allow the operation. */
const illegal = ({ status }: Session, operation: SessionOperation): SessionError | undefined => {
  const now = Object.hasOwn(legal, status) ? legal[status] : []
  if (now.includes(operation)) return undefined
  if (status !== "error") return invalidStatus(status, operation, now)
  return new SessionError(
    "session_in_error_state",
    `The session ended in an error: ${operation} is not possible; Session.recover leaves the error state, lastOutcome.error says what went wrong`,
    { metadata: { operation } }
  )
}

/** Throws when `continue` is not allowed: an open question requires a user message, and missing results forbid it. */
export const requireContinuable = (session: Session, role: string | undefined): void => {
  const { status, pendingToolCalls } = session
  if (status === "awaiting_tools" && pendingToolCalls.length === 0 && role === undefined) return
  requireLegal(session, "continue")
  if (status === "awaiting_user" && role !== "user") {
    throw invalidStatus(
      status,
      role === undefined ? "continue without a message" : `continue with a message of ${role}`,
      ["reply", "cancel"]
    )
  }
}

const invalidStatus = (status: SessionStatus, operation: string, now: ReadonlyArray<SessionOperation>): SessionError =>
  new SessionError(
    "invalid_status_for_operation",
    `The session is ${status}: ${operation} is not possible now; legal now: ${now.join(", ") || "nothing"}`,
    { metadata: { operation, status, legal: now } }
  )
