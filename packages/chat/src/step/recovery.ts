/**
 * What a restart makes of a step that was not over.
 *
 * REVIVE1. A call whose outcome is known has it in the thread. One that had not begun is `not_started`, one that only reads
 *          is `cancelled`: the model may call it again.
 * REVIVE2. A call that may have run is never run again unasked: its tool's `onUnknown` says whether a person decides, the
 *          model reads that it is unknown, or it runs again under the same idempotency key when the chat goes on.
 * REVIVE3. However a step is closed, each of its calls has exactly one result.
 */
import type { ChatContext } from "../loop/ChatMachine.ts"
import type { ChatRecord } from "../record/ChatRecord.ts"
import type { PendingQuestion } from "../record/ChatResult.ts"
import type { Engine } from "../options/Engine.ts"
import type { ToolMessage } from "../model/Message.ts"
import type { Thread } from "../model/Thread.ts"
import type { Tool } from "../tool/Tool.ts"
import type { ToolCall } from "../model/ToolCall.ts"
import { json } from "../tool/ToolResultEncoder.ts"
import {
  isUnfinished,
  isWaiting,
  type OpenCall,
  type Opened,
  openToolCalls,
  type OpenStep,
  withResults
} from "./openCalls.ts"
import { withQuestion } from "../policy/stopReason.ts"
import { endedEarly, type OutcomeRules, type ToolOutcome, toolFailure, toolOutcome } from "../call/toolOutcome.ts"

/** What a chat has of a step that was not over. */
export type Standing = Pick<ChatContext, "thread" | "open" | "pendingQuestion" | "pendingToolCalls">

/** Why a call waits whose outcome is unknown. */
export const unknownReason = "the program ended while it ran; it is unknown whether it took effect"

/** What a call becomes whose outcome is unknown (REVIVE2). */
export const unknownCall = (tool: Tool | undefined, askedAt: number): OpenCall | "fail" => {
  switch (tool?.onUnknown) {
    case "fail":
      return "fail"
    case "retry":
      return { state: "decided", kind: "unknown_outcome", decision: { type: "allow" } }
    default:
      return { state: "waiting", kind: "unknown_outcome", reason: unknownReason, askedAt }
  }
}

/** The outcome of a call of which nobody knows whether it took effect. */
export const unknownOutcome = (toolCall: ToolCall, rules: OutcomeRules, message: string = unknownReason): ToolOutcome =>
  toolOutcome(
    toolCall,
    toolFailure(toolCall, "handler_exit", message),
    { toolResultEncoder: rules.toolResultEncoder },
    "unknown"
  )

/** What a chat that is started from a record begins with. */
export const revived = (record: ChatRecord, engine: Engine, now: number): Standing => {
  const { thread, open, pendingQuestion, pendingToolCalls } = record
  if (open === undefined) return { thread, open, pendingQuestion, pendingToolCalls }
  const rules = { toolResultEncoder: engine.toolResultEncoder ?? json }
  const toolCalls = openToolCalls({ thread, open })
  const results = new Map<number, ToolMessage>()
  const calls = open.calls.map((call, position): OpenCall => {
    const toolCall = toolCalls[position]
    if (toolCall === undefined || (call.state !== "new" && call.state !== "intended")) return call
    const tool = engine.tools.find(({ name }) => name === toolCall.name)
    const unknown = call.state === "intended" ? unknownCall(tool, now) : "fail"
    if (unknown !== "fail") return unknown
    const ended = call.state === "intended" ? unknownOutcome(toolCall, rules) : notBegun(toolCall, tool, rules)
    results.set(position, ended.message)
    return call
  })
  return settled({
    ...withResults({ thread, open: { ...open, calls } }, results),
    pendingQuestion,
    pendingToolCalls: manualOf({ thread, open })
  })
}

const notBegun = (toolCall: ToolCall, tool: Tool | undefined, rules: OutcomeRules): ToolOutcome =>
  tool?.effect === "read"
    ? endedEarly(toolCall, "cancelled", rules, "ended by a restart; it may be called again")
    : endedEarly(toolCall, "not_started", rules, "not started: the program ended before; it may be called again")

/** The open calls that are the caller's to answer. */
export const manualOf = (opened: Opened): ReadonlyArray<ToolCall> =>
  openToolCalls(opened).filter((_, position) => opened.open.calls[position]?.state === "manual")

/** A question that a call asked is asked once no other call waits; a step without anything left is no longer open. */
const settled = (standing: Standing & Opened): Standing => {
  const { thread, open } = standing
  if (isWaiting(open)) return standing
  if (open.halt?.type !== "question") return { ...standing, open: isUnfinished(open) ? open : undefined }
  const { halt, ...asked } = open
  const { type: _, ...question } = halt
  return {
    ...standing,
    ...asking(thread, question),
    open: isUnfinished(asked) ? asked : undefined
  }
}

const asking = (thread: Thread, question: PendingQuestion): Pick<Standing, "thread" | "pendingQuestion"> => ({
  thread: withQuestion(thread, question),
  pendingQuestion: question
})

/** Ends an open step: what has no result yet, but for the caller's calls, is answered with this (REVIVE3). */
export const closed = (
  standing: Standing & Opened,
  result: (toolCall: ToolCall, call: Extract<OpenCall, { readonly state: "waiting" | "decided" }>) => ToolMessage
): Standing => {
  const { open } = standing
  const toolCalls = openToolCalls(standing)
  const results = new Map<number, ToolMessage>()
  open.calls.forEach((call, position) => {
    const toolCall = toolCalls[position]
    if (toolCall === undefined || (call.state !== "waiting" && call.state !== "decided")) return
    results.set(position, result(toolCall, call))
  })
  return { ...settled({ ...standing, ...withResults(standing, results) }), open: undefined }
}

/** An open step that a person's next words go on from: what it would have ended with does not count any more. */
export const goingOn = (step: OpenStep): OpenStep | undefined => {
  const { halt: _, ...open } = step
  return isUnfinished(open) ? open : undefined
}
