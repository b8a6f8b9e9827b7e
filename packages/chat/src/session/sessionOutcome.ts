/**
 * The session after the result of a chat or of a step.
 *
 * SOUT1. The thread is the result's; `id`, `context` and `metadata` are never written.
 * SOUT2. The status follows from the outcome by one order: an error, calls that wait for the caller, a cancel, a question,
 *        the end; `idle` after a step that would continue, or a step that asked for results and named no call.
 * SOUT3. A cancel keeps a question that was open before it; any other outcome closes it.
 * SOUT4. `lastOutcome` is replaced, never merged. After an error it has the error itself.
 */
import { AdapterError, ToolError } from "../errors/index.ts"
import type { ChatResult, StepResult } from "../record/index.ts"
import type { Thread, ToolCall } from "../model/index.ts"
import { type Terminal, terminalCondition } from "../stopConditions/index.ts"
import type { Session, SessionStatus } from "./sessionState.ts"

/** The session after a chat. */
export const afterChat = (session: Session, result: ChatResult): Session => {
  const { thread, haltedReason: reason, metadata, pendingQuestion, pendingToolCalls, pendingApprovals } = result
  return settled(session, thread, {
    reason,
    metadata,
    pendingToolCalls,
    ...(pendingQuestion === undefined ? {} : { pendingQuestion }),
    ...(pendingApprovals === undefined ? {} : { pendingApprovals })
  })
}

/** The session after a single step. */
export const afterStep = (session: Session, step: StepResult): Session => settled(session, step.thread, endOf(step))

/** Why a loop without bounds would end after this step; `undefined` when it would continue. */
export const endOf = (step: StepResult): Terminal | undefined =>
  terminalCondition(step, 0, { maxTurns: Number.POSITIVE_INFINITY }, { stopped: undefined, steps: [step] })

/** The status of a session after a turn without an error: what it waits for. */
export const waitingStatus = ({
  pendingToolCalls,
  pendingQuestion
}: Pick<Session, "pendingToolCalls" | "pendingQuestion">): SessionStatus => {
  if (pendingToolCalls.length > 0) return "awaiting_tools"
  return pendingQuestion === undefined ? "idle" : "awaiting_user"
}

const settled = (session: Session, thread: Thread, end: Terminal | undefined): Session => {
  const { pendingQuestion: before, lastOutcome: _, ...kept } = session
  const pendingToolCalls = waitingFor(end)
  if (end === undefined) return { ...kept, thread, status: "idle", pendingToolCalls }
  const question = end.pendingQuestion ?? (end.reason === "cancelled" ? before : undefined)
  const { error, ...metadata } = end.metadata
  const failed = end.reason === "error" || end.reason === "tool_error"
  return {
    ...kept,
    thread,
    status: statusAfter({ ...end, pendingToolCalls }, question !== undefined),
    pendingToolCalls,
    ...(question === undefined ? {} : { pendingQuestion: question }),
    lastOutcome: {
      haltedReason: end.reason,
      metadata,
      ...(failed ? { error: error ?? metadata["onToolErrorException"] ?? unnamed(end) } : {})
    }
  }
}

/** The calls that the caller answers. A call that waits for a decision is one of them, because a session never runs it. */
const waitingFor = (end: Terminal | undefined): ReadonlyArray<ToolCall> => [
  ...(end?.pendingApprovals ?? []).map(({ toolCall }) => toolCall),
  ...(end?.pendingToolCalls ?? [])
]

const statusAfter = ({ reason, pendingToolCalls = [] }: Terminal, hasQuestion: boolean): SessionStatus => {
  if (reason === "error" || reason === "tool_error") return "error"
  if (pendingToolCalls.length > 0) return "awaiting_tools"
  if (reason === "cancelled") return "cancelled"
  if (reason === "manual_tool_calls") return "idle"
  return hasQuestion ? "awaiting_user" : "completed"
}

/** An error for a result without one: an adapter ended with `error` and no reason, or a handler failed without a value. */
const unnamed = ({ reason, metadata }: Terminal): AdapterError | ToolError =>
  reason === "error"
    ? new AdapterError("unknown", { message: "The model request failed and did not say why", metadata })
    : new ToolError("handler_raised", { message: "A tool call failed and did not say why", metadata })
