/**
 * The session after the result of a turn or of a step.
 *
 * SOUT1. The thread is the result's; `id`, `context` and `metadata` are never written.
 * SOUT2. A step that would continue leaves the session idle, without an outcome.
 * SOUT3. A cancel keeps a question that was open before it; any other outcome closes it.
 * SOUT4. `lastOutcome` is replaced, never merged. After an error it has the error itself.
 * S1. After an operation that ran a turn the session's thread is the result's.
 */
import { AdapterError, ToolError, ValidationError } from "../errors/index.ts"
import type { Conversation, ChatResult, OpenCall, OpenStep, StepResult } from "../record/index.ts"
import type { StreamCollector } from "../events/index.ts"
import { firstExpiry, waitingBelow, chatResult, type Terminal, terminalCondition } from "../step/index.ts"
import * as Usage from "../model/Usage.ts"
import { changed, type Session, sessionFrom } from "./sessionState.ts"

/**
 * What a session runs.
 *
 * - `chat`: a turn of steps; it ends with `chat_completed`
 * - `step`: one step; it ends with `step_completed`
 */
export type SessionMode = "chat" | "step"

/** The result of each mode; a step that was left early is a cancelled chat without steps. */
export interface ResultOf {
  readonly chat: ChatResult
  readonly step: StepResult | ChatResult
}

/** A session after a turn, and the turn's result. */
export interface SessionTurn<Result = ChatResult> {
  readonly session: Session
  readonly result: Result
}

/**
 * The session after the events that a collector has read, and their result: for events that came from another place.
 *
 * **When to use**: at the other end of a connection. In the program that runs the turn, `session()` of its events has more:
 * the calls that ran when the turn was left, and the text of the unfinished reply.
 *
 * **Details**: `mode` is what ran: a whole turn (`"chat"`), or one step. When the events end early, the finished steps stay,
 * with their pending calls and their question, and the status is `cancelled`, or `error` after an error event. An
 * unfinished step changes nothing.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for another mode.
 *
 * @example
 * ```ts import.meta.vitest
 * import { StreamCollector } from "@troupe/chat/events"
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const asked = Session.make({ thread: [Message.user("hi")] })
 * const collector = new StreamCollector(asked.thread)
 * collector.apply({ type: "text_delta", id: null, delta: "Hel" })
 * const { session, result } = Session.after(asked, "chat", collector)
 * session.status // => "cancelled"
 * session.thread // => asked.thread
 * result.finalResponse?.outputText // => "Hel"
 * ```
 */
export const after = <Mode extends SessionMode>(
  session: Conversation,
  mode: Mode,
  collector: StreamCollector
): SessionTurn<ResultOf[Mode]> => {
  if (mode !== "chat" && mode !== "step") {
    throw new ValidationError("invalid_options", [{ field: ["mode"], reason: "must_be_one_of chat, step" }])
  }
  const [step] = mode === "step" ? collector.steps : []
  const result = step ?? resultOf(collector)
  const isLeft = mode === "step" && step === undefined
  return { session: isLeft ? sessionFrom(session) : afterResult(session, result), result: result as ResultOf[Mode] }
}

/** Why a run without bounds would end after this step; `undefined` when it would continue. */
const endOf = (step: StepResult): Terminal | undefined =>
  terminalCondition(step, 0, { maxTurns: Number.POSITIVE_INFINITY }, { stopped: undefined, steps: [step] })

/** The result of the events that were read; of an unfinished turn, with the calls and the question of its last step. */
export const resultOf = (collector: StreamCollector): ChatResult => {
  const result = collector.toChatResult()
  const last = collector.chatResult === undefined ? collector.steps.at(-1) : undefined
  const end = last === undefined ? undefined : endOf(last)
  if (end === undefined) return result
  const { pendingToolCalls = [], pendingQuestion, pendingApprovals } = end
  return {
    ...result,
    pendingToolCalls,
    ...(pendingQuestion !== undefined && { pendingQuestion }),
    ...(pendingApprovals !== undefined && { pendingApprovals })
  }
}

/** The session after a result; `open` is the step whose calls are open. The usage of the result's steps is added. */
export const afterResult = (
  session: Conversation,
  result: ChatResult | StepResult,
  open: OpenStep | undefined = openIn(result)
): Session => {
  const steps = "haltedReason" in result ? result.steps : [result]
  const ended = "haltedReason" in result ? result : endedBy(result)
  const { lastOutcome: _, draft: __, ...before } = session
  return changed(before, {
    thread: result.thread,
    usage: steps.reduce((sum, { response }) => Usage.add(sum, response.usage), session.usage),
    running: false,
    open,
    expiresAt: open === undefined ? undefined : firstExpiry(open),
    pendingToolCalls: ended?.pendingToolCalls ?? [],
    pendingQuestion:
      ended?.pendingQuestion ?? (ended?.haltedReason === "cancelled" ? session.pendingQuestion : undefined),
    lastHaltedReason: ended?.haltedReason,
    ...(ended !== undefined && { lastOutcome: outcomeOf(ended) })
  })
}

/** How the turn ended, with the error of an error. */
export const outcomeOf = ({
  haltedReason,
  metadata: { error, ...metadata }
}: Pick<ChatResult, "haltedReason" | "metadata">): NonNullable<Conversation["lastOutcome"]> => ({
  haltedReason,
  metadata,
  ...(haltedReason === "error" || haltedReason === "tool_error"
    ? { error: error ?? metadata["onToolErrorException"] ?? unnamed(haltedReason, metadata) }
    : {})
})

const endedBy = (step: StepResult): ChatResult | undefined => {
  const terminal = endOf(step)
  return terminal === undefined ? undefined : chatResult(step.thread, [step], terminal)
}

/** The open step of a result: its calls that wait for a decision, those of the caller, and those with a result. */
const openIn = ({ thread, pendingApprovals = [], ...result }: ChatResult | StepResult): OpenStep | undefined => {
  const at = thread.messages.findLastIndex((message) => message.role === "assistant" && message.toolCalls !== undefined)
  const message = thread.messages[at]
  if (pendingApprovals.length === 0 || message?.role !== "assistant") return undefined
  const waiting = [...pendingApprovals]
  const manual = [...("haltedReason" in result ? result.pendingToolCalls : result.manualToolCalls)]
  const calls = (message.toolCalls ?? []).map(({ id }): OpenCall => {
    const below = waitingBelow(id, waiting)
    if (below !== undefined) return below
    const [approval] = taken(waiting, ({ toolCall }) => toolCall.id === id)
    if (approval === undefined) return { state: taken(manual, (call) => call.id === id).length > 0 ? "manual" : "done" }
    const { toolCall: _, kind, ...wait } = approval
    return { state: "waiting", ...wait, kind: kind === "unknown_outcome" ? kind : "permission" }
  })
  return { at, calls }
}

/** Removes the first item for which this holds, and returns it in a list. */
const taken = <A>(items: Array<A>, isMeant: (item: A) => boolean): ReadonlyArray<A> => {
  const at = items.findIndex(isMeant)
  return at === -1 ? [] : items.splice(at, 1)
}

/** An error for a result without one: an adapter ended with `error` and no reason, or a handler failed without a value. */
const unnamed = (reason: string, metadata: Readonly<Record<string, unknown>>): AdapterError | ToolError =>
  reason === "error"
    ? new AdapterError("unknown", { message: "The model request failed and did not say why", metadata })
    : new ToolError("handler_raised", { message: "A tool call failed and did not say why", metadata })
