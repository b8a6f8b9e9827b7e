/**
 * A chat that waits, and gives up waiting.
 *
 * SUSP1. However a suspension ends, every call of the thread has exactly one result.
 */
import type { ChatContext } from "../ChatMachine.ts"
import type { PendingQuestion } from "../ChatResult.ts"
import type { Message } from "../Message.ts"
import * as Thread from "../Thread.ts"
import type { ToolCall } from "../ToolCall.ts"
import { errorText } from "../ToolResultEncoder.ts"
import { withResult } from "./answer.ts"
import { toolFailure } from "./toolOutcome.ts"

/** When a chat that begins to wait now gives up; `undefined` for never. */
export const expiryOf = (
  { suspendedTtlMs, clock }: Pick<ChatContext, "suspendedTtlMs" | "clock">,
  waitsFor: Pick<ChatContext, "pendingQuestion" | "pendingToolCalls">
): number | undefined =>
  suspendedTtlMs === undefined ||
  suspendedTtlMs === Infinity ||
  (waitsFor.pendingQuestion ?? waitsFor.pendingToolCalls[0]) === undefined
    ? undefined
    : clock.now() + suspendedTtlMs

/** The chat has waited long enough: the question is withdrawn, the calls are answered as cancelled. */
export const expired = ({ thread, pendingQuestion, pendingToolCalls }: ChatContext): Partial<ChatContext> => {
  const asked = pendingQuestion === undefined ? undefined : askingCall(thread, pendingQuestion)
  const from = (asked === undefined ? undefined : withResult(thread, asked.id, expiredText(asked))) ?? thread
  const results = pendingToolCalls.map((call): Message => ({
    role: "tool",
    toolCallId: call.id,
    content: expiredText(call)
  }))
  return {
    thread: results.length === 0 ? from : answering(from, results),
    pendingQuestion: undefined,
    pendingToolCalls: [],
    expiresAt: undefined,
    lastHaltedReason: "expired",
    committed: false
  }
}

const askingCall = ({ messages }: Thread.Thread, { toolCallId }: PendingQuestion): ToolCall | undefined =>
  messages
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .findLast(({ id }) => id === toolCallId)

/** Results stand behind the calls they answer: before a question that was said after them. */
const answering = (thread: Thread.Thread, results: ReadonlyArray<Message>): Thread.Thread => {
  const last = Thread.last(thread)
  return last?.role === "assistant" && last.metadata?.["ask_user"] === true
    ? { ...thread, messages: [...thread.messages.slice(0, -1), ...results, last] }
    : Thread.append(thread, ...results)
}

const expiredText = (call: ToolCall): string =>
  errorText(toolFailure(call, "cancelled", "expired: nobody answered in time").reason)
