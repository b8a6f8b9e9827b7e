/** A session as data. */

import * as z from "zod"
import * as Thread from "../model/Thread.ts"
import { ToolCall } from "../model/index.ts"

const record = z.record(z.string(), z.unknown())

/**
 * What a session waits for.
 *
 * - `idle`: nothing was said yet, a step of its own would go on, or what was missing has come
 * - `completed`: the last turn ended; `lastOutcome` says how
 * - `awaiting_user`: a tool asked a question
 * - `awaiting_tools`: calls are the caller's to answer
 * - `cancelled`: the last turn was cancelled or left; what was said, and an open question, are kept
 * - `error`: the last turn failed; only `recover` is legal
 */
export const SessionStatus = z.enum(["idle", "completed", "awaiting_user", "awaiting_tools", "cancelled", "error"])

export type SessionStatus = z.infer<typeof SessionStatus>

/**
 * How the last turn ended: its halted reason, what the reason knows (see `ChatResult`), and the error of `error` and
 * `tool_error`.
 */
export const SessionOutcome = z
  .object({ haltedReason: z.string(), metadata: record, error: z.unknown().optional() })
  .readonly()

export type SessionOutcome = z.infer<typeof SessionOutcome>

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
 * **Details**: `id` is told to tool handlers as `sessionId`. `context` is handed to them in the engine's place when there
 * is something in it. `metadata` is nobody's but the caller's. `pendingToolCalls` are the calls that `submitToolResults`
 * answers, `pendingQuestion` is what `reply` answers.
 */
export const Session = z.object(shape).readonly()

export type Session = z.infer<typeof Session>
