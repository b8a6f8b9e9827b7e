/**
 * A session as data: a conversation whose status is written in it.
 *
 * S4. A session is plain data, except its errors.
 */
import type { Conversation, ConversationStatus } from "../record/index.ts"
import { statusOf } from "../record/index.ts"

/**
 * A conversation between two turns of a session.
 *
 * **Details**: every operation takes any conversation, also the record of a chat, and returns a session. Tool handlers get
 * `id` as `sessionId`, unless it is empty. A non-empty `context` is passed to them instead of the engine's. `metadata`
 * belongs to the caller only. `submitToolResults` answers `pendingToolCalls`, `reply` answers `pendingQuestion`, `approve`
 * decides about the waiting calls of `open`.
 */
export interface Session extends Conversation {
  /** What the conversation waits for, or how its last turn ended. */
  readonly status: ConversationStatus
  /** Passed to tool handlers instead of the engine's, unless it is empty. */
  readonly context: NonNullable<Conversation["context"]>
  /** The caller's own data. */
  readonly metadata: NonNullable<Conversation["metadata"]>
}

/** The parts of a conversation without a message. */
export const blank: Session = {
  id: "",
  thread: { messages: [] },
  usage: {},
  running: false,
  pendingToolCalls: [],
  status: "idle",
  context: {},
  metadata: {}
}

/** The session of a conversation: a field that is `undefined` is left out, and the status is computed. */
export const sessionFrom = (conversation: Conversation): Session => {
  const { status, context, metadata } = conversation
  const now = statusOf(conversation)
  if (status === now && context !== undefined && metadata !== undefined) return conversation as Session
  const known = Object.entries(conversation).filter(([, value]) => value !== undefined)
  return { ...blank, ...Object.fromEntries(known), status: now }
}

/** The session with these fields changed; its status is that of the result, whatever it was before. */
export const changed = (session: Conversation, changes: Partial<Conversation>): Session =>
  sessionFrom({ ...session, status: undefined, ...changes })
