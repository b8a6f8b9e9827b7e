/**
 * What a store keeps of a chat: enough to go on after a crash.
 *
 * @module
 */
import type { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import type { Thread } from "./Thread.ts"
import type { ToolCall } from "./ToolCall.ts"
import type { Usage } from "./Usage.ts"

/**
 * A chat's committed state.
 *
 * **Details**: written when a user's message was accepted, after each step, and when a turn ends; never between, so every
 * call in `thread` has its result, but those in `pendingToolCalls`. `running` says that a turn was under way: a chat
 * revived from such a record was interrupted, and `retry` goes on.
 */
export interface ChatRecord {
  readonly id: string
  readonly thread: Thread
  readonly usage: Usage
  readonly running: boolean
  readonly lastHaltedReason?: HaltedReason | undefined
  readonly pendingQuestion?: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
}
