/** The result of one turn of a session. */

import type { ChatResult, StepResult } from "../record/index.ts"
import type { Session } from "./sessionState.ts"

/**
 * What the events are of.
 *
 * - `chat`: a turn of steps; it ends with `chat_completed`
 * - `step`: one step; it ends with `step_completed`
 */
export type SessionMode = "chat" | "step"

/** What a mode comes to: a step that was left early is a cancelled chat of no step. */
export interface ResultOf {
  readonly chat: ChatResult
  readonly step: StepResult | ChatResult
}

/** A session after a turn, and the turn's result. */
export interface SessionTurn<Result = ChatResult> {
  readonly session: Session
  readonly result: Result
}
