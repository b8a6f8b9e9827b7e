/**
 * The expiry of a suspended chat.
 *
 * SUSP1. However a suspension ends, every call of the thread has exactly one result.
 */
import type { ChatContext, ChatInput } from "./chatContext.ts"
import type { ChatRecord, OpenCall, OpenStep, PendingQuestion } from "../record/index.ts"
import type { Message, ToolCall, ToolMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { errorText, json } from "../toolResult/index.ts"
import { withResult } from "./questionAnswer.ts"
import { ignoreRejection } from "../async/index.ts"
import { closed, firstExpiry, isWaiting, leftOut, openToolCalls, withResults } from "../step/index.ts"
import { type OutcomeRules, toolFailure, toolOutcome } from "../call/index.ts"
import { unknownOutcome, unknownReason } from "../batch/index.ts"

/** When a chat that begins to wait now expires; `undefined` for never. */
export const expiryOf = (
  bounds: Bounds,
  waitsFor: Pick<ChatContext, "pendingQuestion" | "pendingToolCalls" | "open">
): number | undefined => {
  const { pendingQuestion, pendingToolCalls, open } = waitsFor
  if (open !== undefined && isWaiting(open)) return firstExpiry(open)
  return (pendingQuestion ?? pendingToolCalls[0]) === undefined ? undefined : endOf(bounds)
}

/** Whether the chat waited for something, and its time is over. */
export const hasExpired = ({ expiresAt, clock }: Pick<ChatContext, "expiresAt" | "clock">): boolean =>
  expiresAt !== undefined && expiresAt <= clock.now()

/**
 * The context of a chat at its start: an expired wait is over. `committed` is false if the store does not have the new
 * state yet.
 */
export const found = (context: ChatContext, { record, cutOff }: Pick<ChatInput, "record" | "cutOff">): ChatContext => {
  if (record === undefined) return context
  if (hasExpired(context)) return { ...context, ...expired(context) }
  if (context.interrupted !== undefined && cutOff !== undefined) return { ...context, committed: false }
  const { open } = context
  const isKnown = open === undefined || open.calls.every((call, at) => isSameWait(call, record.open?.calls[at]))
  return isKnown ? context : { ...context, committed: false }
}

const isSameWait = (call: OpenCall, kept: OpenCall | undefined): boolean =>
  call.state !== "waiting" || (kept?.state === "waiting" && kept.expiresAt === call.expiresAt)

/**
 * Saves a record that no caller waits for. If the store fails, its record stays as before, and the next start computes the
 * same.
 */
export const keepUnasked = (commit: NonNullable<ChatContext["commit"]>, record: ChatRecord): void => {
  try {
    ignoreRejection(commit(record))
  } catch {
    return
  }
}

type Bounds = Pick<ChatContext, "suspendedTtlMs" | "clock">

const endOf = ({ suspendedTtlMs, clock }: Bounds): number | undefined =>
  suspendedTtlMs === undefined || suspendedTtlMs === Infinity ? undefined : clock.now() + suspendedTtlMs

/** The open step with the waits of its calls limited to the time that the chat may wait. */
export const boundedBy = (bounds: Bounds, open: OpenStep | undefined): OpenStep | undefined => {
  if (open === undefined || !isWaiting(open)) return open
  const expiresAt = endOf(bounds)
  if (expiresAt === undefined) return open
  const calls = open.calls.map((call) =>
    call.state === "waiting" && (call.expiresAt === undefined || call.expiresAt > expiresAt)
      ? { ...call, expiresAt }
      : call
  )
  return { ...open, calls }
}

/** The calls or the question that a chat waits with. */
type WaitState = Pick<ChatContext, "thread" | "pendingQuestion" | "pendingToolCalls">

/** The state of a chat whose wait can expire. */
type ExpiryState = WaitState & Bounds & Pick<ChatContext, "engine" | "open" | "expiresAt">

/**
 * The context after the wait of the chat expired: calls without a decision do not run, and a question or calls without an
 * answer are closed.
 */
export const expired = (context: ExpiryState): Partial<ChatContext> =>
  context.open !== undefined && isWaiting(context.open) ? undecided(context, context.open) : unanswered(context)

/** Answers the calls whose decision came too late. With the last of them, the calls that never ran are answered too. */
const undecided = (context: ExpiryState, open: OpenStep): Partial<ChatContext> => {
  const { clock, engine, expiresAt = Infinity } = context
  const rules = { toolResultEncoder: engine.toolResultEncoder ?? json }
  const now = Math.max(clock.now(), expiresAt)
  const toolCalls = openToolCalls({ ...context, open })
  const results = new Map<number, ToolMessage>()
  open.calls.forEach((call, position) => {
    const toolCall = toolCalls[position]
    if (toolCall === undefined || call.state !== "waiting" || (call.expiresAt ?? Infinity) > now) return
    results.set(position, undecidedMessage(toolCall, call, rules))
  })
  const left = withResults({ ...context, open }, results)
  if (isWaiting(left.open)) return { ...left, expiresAt: firstExpiry(left.open), committed: false }
  const over = closed(
    { ...context, ...left },
    (toolCall, call) => leftOut(toolCall, call, "not_started", rules, notAll).message
  )
  return { ...over, expiresAt: expiryOf(context, over), lastHaltedReason: "expired", committed: false }
}

const notAll = "expired: not every call beside it was decided in time"

const undecidedMessage = (
  toolCall: ToolCall,
  { kind }: Extract<OpenCall, { readonly state: "waiting" }>,
  rules: OutcomeRules
): ToolMessage =>
  kind === "permission"
    ? toolOutcome(toolCall, toolFailure(toolCall, "denied", "expired: nobody decided in time"), rules).message
    : unknownOutcome(toolCall, rules, `expired: ${unknownReason}, and nobody decided in time`).message

/** Withdraws the question, and answers the calls as cancelled. */
const unanswered = ({ thread, pendingQuestion, pendingToolCalls }: WaitState): Partial<ChatContext> => {
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

/** Adds results after the calls they answer: before a question that follows those calls. */
const answering = (thread: Thread.Thread, results: ReadonlyArray<Message>): Thread.Thread => {
  const last = Thread.last(thread)
  return last?.role === "assistant" && last.metadata?.["ask_user"] === true
    ? { ...thread, messages: [...thread.messages.slice(0, -1), ...results, last] }
    : Thread.append(thread, ...results)
}

const expiredText = (call: ToolCall): string =>
  errorText(toolFailure(call, "cancelled", "expired: nobody answered in time").reason)
