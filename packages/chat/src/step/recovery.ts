/**
 * Restores a step that was not over when the program ended.
 *
 * REVIVE1. A call whose outcome is known has it in the thread. A call that had not begun becomes `not_started`, a call that
 *          only reads `cancelled`: the model may call it again.
 * REVIVE2. A call that may have run never runs again without a decision. Its tool's `onUnknown` decides: a person decides,
 *          the model reads that the outcome is unknown, or the call runs again under the same idempotency key when the chat
 *          continues. If a person gave it arguments, it runs again with these.
 * REVIVE3. However a step is closed, each of its calls has exactly one result.
 * CHAT12. When there is a store, the intent of a call that writes is stored before its handler starts. Each record saved
 *         while tools run lists the calls that may have run. A chat that starts from such a record never runs one of them
 *         again without a decision.
 */
import { type Conversation, isWaiting, type OpenCall, type OpenStep, type PendingQuestion } from "../record/index.ts"
import type { Thread, ToolCall, ToolMessage } from "../model/index.ts"
import { json } from "../values/index.ts"
import { isUnfinished, type Opened, openToolCalls, withResults } from "./openCalls.ts"
import { withQuestion } from "./stopReason.ts"
import { endedEarly, type OutcomeRules, type ToolOutcome } from "../call/index.ts"
import { type Engine, loadSchemas, type Tool } from "../tool/index.ts"
import { presentTools } from "../options/index.ts"
import { unknownOutcome, unknownReason } from "../batch/index.ts"

/** The state of a chat with a step that was not over. */
export interface Standing {
  readonly thread: Thread
  readonly open?: OpenStep | undefined
  readonly pendingQuestion?: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
}

/** The state of a call whose outcome is unknown (REVIVE2); `given` are the arguments that a person gave. */
const unknownCall = (
  tool: Tool | undefined,
  askedAt: number,
  given: Readonly<Record<string, unknown>> | undefined
): OpenCall | "fail" => {
  const ran = given === undefined ? {} : { arguments: given }
  switch (tool?.onUnknown) {
    case "fail":
      return "fail"
    case "retry":
      return { state: "decided", kind: "unknown_outcome", decision: { type: "allow", ...ran } }
    default:
      return { state: "waiting", kind: "unknown_outcome", reason: unknownReason, askedAt, ...ran }
  }
}

/** The state of a chat that starts from a record. */
export const revived = (
  record: Conversation,
  engine: Pick<Engine, "tools" | "toolResultEncoder">,
  now: number
): Standing => {
  const { thread, open, pendingQuestion, pendingToolCalls } = record
  if (open === undefined) return { thread, open, pendingQuestion, pendingToolCalls }
  if (open.calls.some(asksByForm)) void loadSchemas()
  const rules = { toolResultEncoder: engine.toolResultEncoder ?? json }
  const toolCalls = openToolCalls({ thread, open })
  const results = new Map<number, ToolMessage>()
  const calls = open.calls.map((call, position): OpenCall => {
    const toolCall = toolCalls[position]
    if (toolCall === undefined || (call.state !== "new" && call.state !== "intended")) return call
    const tool = presentTools(engine.tools).find(({ name }) => name === toolCall.name)
    const unknown = call.state === "intended" ? unknownCall(tool, now, call.arguments) : "fail"
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

/** Whether a call has a question whose answer is checked. */
const asksByForm = (call: OpenCall): boolean =>
  call.state === "waiting" && call.child?.asks.some(({ options }) => options?.["schema"] !== undefined) === true

const notBegun = (toolCall: ToolCall, tool: Tool | undefined, rules: OutcomeRules): ToolOutcome =>
  tool?.effect === "read"
    ? endedEarly(toolCall, "cancelled", rules, "ended by a restart; it may be called again")
    : endedEarly(toolCall, "not_started", rules, "not started: the program ended before; it may be called again")

/** The open calls that the caller must answer. */
export const manualOf = (opened: Opened): ReadonlyArray<ToolCall> =>
  openToolCalls(opened).filter((_, position) => opened.open.calls[position]?.state === "manual")

/** Asks a call's question once no other call waits, and closes a step without open calls. */
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

/** Ends an open step: calls that wait or were decided get this result (REVIVE3). */
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

/** The open step before a new user message: its halt is dropped. */
export const goingOn = (step: OpenStep): OpenStep | undefined => {
  const { halt: _, ...open } = step
  return isUnfinished(open) ? open : undefined
}
