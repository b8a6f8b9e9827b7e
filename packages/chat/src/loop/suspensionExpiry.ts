/**
 * The end of a wait that brings no answer: it expired, or a person ended it.
 *
 * SUSP1. However a suspension ends, every call of the thread has exactly one result.
 * CHAT10. A chat that waits for the user or for tool results has no fiber, and a timer only if the wait is limited. When
 *         the time is over, every call in the thread gets a result, and the chat is at rest.
 * CHAT14. A wait that expired while the chat was not loaded has expired before the chat handles its first event. An event
 *         after the expiry time is handled after the expiry, however late the timer fires. The start and the end of a wait
 *         are stored as soon as they are known, and no restart changes them.
 * CHAT17. A person may end each wait of a chat at rest: the calls and the question that it waits with are `cancelled`, and are stored so.
 */
import type { ChatContext, ChatEvent, Expired } from "./chatContext.ts"
import { isInterrupted } from "../inbox/index.ts"
import { type Conversation, isWaiting, type OpenCall, type OpenStep, type PendingQuestion } from "../record/index.ts"
import { answeredInOrder, type ToolCall, type ToolMessage } from "../model/index.ts"
import type * as Thread from "../model/Thread.ts"
import { errorText } from "../values/index.ts"
import { withResult, closed, firstExpiry, leftOut, openToolCalls, withResults } from "../step/index.ts"
import { endedEarly, type OutcomeRules, toolFailure, toolOutcome } from "../call/index.ts"
import { unknownOutcome, unknownReason } from "../batch/index.ts"

/** When a chat that begins to wait now expires; `undefined` for never. */
export const expiryOf = (
  bounds: Pick<ChatContext, "suspendedTtlMs" | "now">,
  waitsFor: Pick<Conversation, "pendingQuestion" | "pendingToolCalls" | "open">
): number | undefined => {
  const { pendingQuestion, pendingToolCalls, open } = waitsFor
  if (open !== undefined && isWaiting(open)) return firstExpiry(open)
  return (pendingQuestion ?? pendingToolCalls[0]) === undefined ? undefined : endOf(bounds)
}

/** Whether the chat waited for something, and its time is over. */
export const hasExpired = ({ expiresAt }: Pick<Conversation, "expiresAt">, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now

/** Whether the state of a chat at rest waits for a person: for decisions, for results or for an answer. */
export const isAtWait = (context: Pick<ChatContext, "record" | "turn">): boolean => {
  const { open, pendingToolCalls, pendingQuestion } = context.record
  return (
    (open !== undefined && isWaiting(open)) ||
    pendingToolCalls.length > 0 ||
    (pendingQuestion !== undefined && !isInterrupted(context))
  )
}

const endOf = ({ suspendedTtlMs, now }: Pick<ChatContext, "suspendedTtlMs" | "now">): number | undefined =>
  suspendedTtlMs === undefined ? undefined : Math.floor(now + suspendedTtlMs)

/** The open step with the waits of its calls limited to the time that the chat may wait. */
export const boundedBy = (
  bounds: Pick<ChatContext, "suspendedTtlMs" | "now">,
  open: OpenStep | undefined
): OpenStep | undefined => {
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

/** The state of a chat whose wait can expire. */
export type ExpiryState = Pick<Conversation, "thread" | "pendingQuestion" | "pendingToolCalls"> &
  Pick<Conversation, "open" | "expiresAt" | "lastHaltedReason"> &
  Pick<ChatContext, "suspendedTtlMs">

/** A wait that is to end, and why. */
export type WaitEnd = ExpiryState & { readonly ends: "expired" | "cancelled" }

/**
 * The state after the wait of the chat expired: calls without a decision do not run, and a question or calls without an
 * answer are closed. The rules encode the results of the calls.
 */
export const expired = (state: ExpiryState, rules: OutcomeRules, now: number): Expired =>
  state.open !== undefined && isWaiting(state.open)
    ? undecided(state, state.open, rules, now)
    : unanswered(state, expiredMessage, "expired")

/** The state after the wait of the chat ended without an answer. */
export const waitEnded = ({ ends, ...state }: WaitEnd, rules: OutcomeRules, now: number): Expired =>
  ends === "cancelled" ? endedByPerson(state, rules) : expired(state, rules, now)

/** The wait that has expired, or that a person ended. */
export const waitOf = ({ context, event }: { readonly context: ChatContext; readonly event: ChatEvent }) => {
  const { record, suspendedTtlMs } = context
  const { thread, open, pendingQuestion, pendingToolCalls, expiresAt, lastHaltedReason } = record
  const ends = event.type === "wait.cancel" ? ("cancelled" as const) : ("expired" as const)
  return { thread, open, pendingQuestion, pendingToolCalls, expiresAt, lastHaltedReason, suspendedTtlMs, ends }
}

/** The state after a person ended the wait of the chat: the calls and the question are cancelled, and none of the calls runs. */
const endedByPerson = (state: ExpiryState, rules: OutcomeRules): Expired => {
  const { open } = state
  const over =
    open === undefined
      ? state
      : closed({ ...state, open }, (toolCall, call) => leftOut(toolCall, call, "cancelled", rules).message)
  return unanswered({ ...state, ...over }, (call) => endedEarly(call, "cancelled", rules).message, "cancelled")
}

/** Answers the calls whose decision came too late. With the last of them, the calls that never ran are answered too. */
const undecided = (state: ExpiryState, open: OpenStep, rules: OutcomeRules, time: number): Expired => {
  const now = Math.max(time, state.expiresAt ?? Infinity)
  const toolCalls = openToolCalls({ ...state, open })
  const results = new Map<number, ToolMessage>()
  open.calls.forEach((call, position) => {
    const toolCall = toolCalls[position]
    if (toolCall === undefined || call.state !== "waiting" || (call.expiresAt ?? Infinity) > now) return
    results.set(position, undecidedMessage(toolCall, call, rules))
  })
  const left = withResults({ ...state, open }, results)
  const { pendingQuestion, pendingToolCalls, lastHaltedReason } = state
  if (isWaiting(left.open)) {
    return { ...left, pendingQuestion, pendingToolCalls, expiresAt: firstExpiry(left.open), lastHaltedReason }
  }
  const over = closed(
    { ...left, pendingQuestion, pendingToolCalls },
    (toolCall, call) => leftOut(toolCall, call, "not_started", rules, notAll).message
  )
  return { ...over, expiresAt: expiryOf({ ...state, now: time }, over), lastHaltedReason: "expired" }
}

const notAll = "expired: not every call beside it was decided in time"

const undecidedMessage = (
  toolCall: ToolCall,
  { kind }: Extract<OpenCall, { readonly state: "waiting" }>,
  rules: OutcomeRules
): ToolMessage =>
  kind === "unknown_outcome"
    ? unknownOutcome(toolCall, rules, `expired: ${unknownReason}, and nobody decided in time`).message
    : toolOutcome(toolCall, toolFailure(toolCall, "denied", "expired: nobody decided in time"), rules).message

/** Withdraws the question, and answers the calls as cancelled. */
const unanswered = (
  { thread, open, pendingQuestion, pendingToolCalls }: ExpiryState,
  message: (call: ToolCall) => ToolMessage,
  lastHaltedReason: "expired" | "cancelled"
): Expired => {
  const asked = pendingQuestion === undefined ? undefined : askingCall(thread, pendingQuestion)
  const from = (asked === undefined ? undefined : withResult(thread, message(asked))) ?? thread
  const results = pendingToolCalls.map(message)
  return {
    thread: results.reduce(answeredInOrder, from),
    open,
    pendingQuestion: undefined,
    pendingToolCalls: [],
    expiresAt: undefined,
    lastHaltedReason
  }
}

const askingCall = ({ messages }: Thread.Thread, { toolCallId }: PendingQuestion): ToolCall | undefined =>
  messages
    .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    .findLast(({ id }) => id === toolCallId)

const expiredMessage = (call: ToolCall): ToolMessage => ({
  role: "tool",
  toolCallId: call.id,
  content: errorText(toolFailure(call, "cancelled", "expired: nobody answered in time").reason)
})
