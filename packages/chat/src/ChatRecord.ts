/**
 * What a store keeps of a chat: enough to go on after a crash.
 *
 * @module
 */
import * as z from "zod"
import { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import { Thread } from "./Thread.ts"
import { ToolCall } from "./ToolCall.ts"
import { Usage } from "./Usage.ts"

/**
 * A chat's committed state.
 *
 * **Details**: written when a user's message was accepted, after each step, and when a turn ends; never between, so every
 * call in `thread` has its result, but those in `pendingToolCalls`. `running` says that a turn was under way: a chat
 * revived from such a record was interrupted, and `retry` goes on.
 */
export const ChatRecord = z
  .object({
    id: z.string(),
    thread: Thread,
    usage: Usage,
    running: z.boolean(),
    lastHaltedReason: HaltedReason.optional(),
    pendingQuestion: PendingQuestion.optional(),
    pendingToolCalls: z.array(ToolCall).readonly()
  })
  .readonly()
export type ChatRecord = z.infer<typeof ChatRecord>
