/**
 * How a task ended: from the end of its process to what the model reads.
 *
 * BG6. A task that is cancelled, misses its deadline or loses its process ends `cancelled`, `timed_out` or `failed`. A task whose
 *      sub-agent waits for a person ends `failed`, and `interrupted` if a call of the sub-agent may have run.
 */
import { ExitReason } from "@troupe/otp"
import { type CallEnd, outcomeOf, type RunnableCall, toolFailure } from "../call/index.ts"
import { shortened } from "../errors/index.ts"
import * as Messages from "../model/Message.ts"
import type { ToolCall } from "../model/index.ts"
import type { Ask, ChildWait, TaskEnd } from "../record/index.ts"
import type { Returned } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import { original } from "../values/index.ts"

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
  if (asked?.type === "child_waits") return waitingEnd(call.toolCall.name, asked.child)
  const { outcome, message } = outcomeOf(call, end)
  const text = Messages.text(message)
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

/** The end of a task whose agent waits for a person; `interrupted` if a call of the agent may have run. */
const waitingEnd = (tool: string, { asks }: ChildWait): TaskEnd => {
  const advice = `A background task gets no answer; call ${tool} without \`background\`.`
  const text = `Its agent waited for a person:\n${asks.map(whatOf).join("\n")}\n${advice}`
  const unknown = asks.filter(({ kind }) => kind === "unknown_outcome").map(({ toolCall }) => toolCall.name)
  if (unknown.length === 0) return { status: "failed", text }
  const effect = `Its program ended during a call of ${unknown.join(", ")}, which may have taken effect.`
  return { status: "interrupted", text: `${effect}\n${text}` }
}

/** What the agent of a task waited for. */
const whatOf = ({ toolCall, reason }: Ask): string => (reason === "" ? toolCall.name : `${toolCall.name}: ${reason}`)

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
