/**
 * How a task ended: from the end of its process to what the model reads.
 *
 * BG6. A task that is cancelled, misses its deadline or loses its process ends `cancelled`, `timed_out` or `failed`. A task whose
 *      sub-agent a person halts ends `cancelled`.
 */
import { ExitReason } from "@troupe/otp"
import { type CallEnd, outcomeOf, type RunnableCall, toolFailure } from "../call/index.ts"
import { shortened } from "../errors/index.ts"
import * as Messages from "../model/Message.ts"
import type { ToolCall } from "../model/index.ts"
import type { BackgroundTask, ChildWait, TaskEnd } from "../record/index.ts"
import type { Returned } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import { original } from "../values/index.ts"

/** What the sub-agent of a task waits for, if its process ended so. */
export const waitIn = (end: CallEnd | undefined): ChildWait | undefined => {
  const result = end?.type === "returned" ? original(end.result) : undefined
  return result?.type === "child_waits" ? result.child : undefined
}

/** The end of a task whose process had this call, or died. */
export const endOf = (call: RunnableCall, end: CallEnd | undefined, reason: unknown): TaskEnd => {
  if (end === undefined) {
    return ExitReason.isAbnormal(reason)
      ? { status: "failed", text: `Its process died: ${describe(reason)}. It may have taken effect.` }
      : interrupted
  }
  const asked = end.type === "returned" ? original(end.result) : undefined
  if (asked?.type === "ask_user") {
    return {
      status: "failed",
      text: `It asked: ${shortened(asked.question)}\nA background task gets no answer; ask the user instead.`
    }
  }
  const { outcome, message } = outcomeOf(call, end)
  const text = Messages.text(message)
  if (asked?.type === "halt") return { status: "cancelled", text }
  switch (outcome) {
    case "completed":
      return { status: "done", text }
    case "timed_out":
      return { status: "timed_out", text }
    case "cancelled":
    case "abandoned":
      return { status: "cancelled", text }
    default:
      return { status: "failed", text }
  }
}

/** The end of a task that is cancelled while it has no process. */
export const cancelledBefore = ({ child }: BackgroundTask): TaskEnd => ({
  status: "cancelled",
  text: child === undefined ? "It was cancelled before it began." : "It waited for a person."
})

/** The end of a task whose sub-agent waited for a decision that did not come in time. */
export const undecided: TaskEnd = {
  status: "timed_out",
  text: "Its agent waited for a person, whose decision did not come in time."
}

/** The end of a task whose program ended, and which must not run again. */
export const interrupted: TaskEnd = {
  status: "interrupted",
  text: "Its program ended while it ran. It may have taken effect."
}

/** The result of a call that ended before it became a task. */
export const resultOf = (toolCall: ToolCall, end: CallEnd | undefined, reason: unknown): Returned => {
  switch (end?.type) {
    case "returned":
      return original(end.result)
    case "timed_out":
      return toolFailure(toolCall, "timeout", `${end.missed}; it may still take effect`)
    case undefined:
      return toolFailure(toolCall, "handler_exit", `${toolCall.name} exited: ${describe(reason)}`, reason)
    default:
      return toolFailure(toolCall, "cancelled", "the call was cancelled")
  }
}
