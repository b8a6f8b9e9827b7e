/** The result of one turn of a session. */

import type { ChatResult, StepResult } from "../record/index.ts"
import type { Session } from "./sessionState.ts"

/**
 * What a session runs.
 *
 * - `chat`: a turn of steps; it ends with `chat_completed`
 * - `step`: one step; it ends with `step_completed`
 */
export type SessionMode = "chat" | "step"

/** The result of each mode; a step that was left early is a cancelled chat without steps. */
export interface ResultOf {
  readonly chat: ChatResult
  readonly step: StepResult | ChatResult
}

/** A session after a turn, and the turn's result. */
export interface SessionTurn<Result = ChatResult> {
  readonly session: Session
  readonly result: Result
}
