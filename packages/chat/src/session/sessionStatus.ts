/**
 * What is legal while a session has which status.
 *
 * LEGAL1. The error state is checked first: in it nothing is legal but `recover`, and the refusal says
 *         `session_in_error_state`.
 * LEGAL2. Whatever else is refused because of the status is `invalid_status_for_operation`, and lists what is legal.
 */
import { SessionError } from "../errors/index.ts"
import type { Session, SessionStatus } from "./sessionState.ts"

/** What can be done with a session; the others are legal in every status. */
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

/** Throws when the operation is not legal now. */
export const requireLegal = (session: Session, operation: SessionOperation): void => {
  const refused = illegal(session, operation)
  if (refused !== undefined) throw refused
}

/** Why an operation is not legal now. */
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

/**
 * Throws when `continue` is not legal now: while a question is open only a user's message goes on, while results are
 * missing nothing does.
 */
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
