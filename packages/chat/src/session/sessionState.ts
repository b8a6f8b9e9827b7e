/** A session as data. */

import * as z from "zod"
import * as Thread from "../model/Thread.ts"
import { ToolCall } from "../model/index.ts"

const record = z.record(z.string(), z.unknown())

/**
 * The status of a session.
 *
 * - `idle`: it has no message yet, a single step would continue, or all missing results were submitted
 * - `completed`: the last turn ended; `lastOutcome` has the reason
 * - `awaiting_user`: a tool asked a question
 * - `awaiting_tools`: the caller must answer calls
 * - `cancelled`: the last turn was cancelled or left; its text and an open question are kept
 * - `error`: the last turn failed; only `recover` is legal
 */
export const SessionStatus = z.enum(["idle", "completed", "awaiting_user", "awaiting_tools", "cancelled", "error"])

export type SessionStatus = z.infer<typeof SessionStatus>

/**
 * How the last turn ended: its halted reason, the metadata of that reason (see `ChatResult`), and the error of `error` and
 * `tool_error`.
 */
const SessionOutcome = z
  .object({ haltedReason: z.string(), metadata: record, error: z.unknown().optional() })
  .readonly()

export const shape = {
  id: z.string().optional(),
  thread: Thread.Thread,
  status: SessionStatus,
  pendingQuestion: z.object({ question: z.string(), toolCallId: z.string(), options: record }).readonly().optional(),
  pendingToolCalls: z.array(ToolCall).readonly(),
  context: record,
  metadata: record,
  lastOutcome: SessionOutcome.optional()
}

/**
 * A conversation between turns.
 *
 * **Details**: tool handlers get `id` as `sessionId`. A non-empty `context` is passed to them instead of the engine's.
 * `metadata` belongs to the caller only. `submitToolResults` answers `pendingToolCalls`, `reply` answers `pendingQuestion`.
 */
export const Session = z.object(shape).readonly()

export type Session = z.infer<typeof Session>
