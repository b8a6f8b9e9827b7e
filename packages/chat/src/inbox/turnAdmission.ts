/**
 * The checks before a turn may begin.
 *
 * REFUSE1. While calls wait for a decision, a turn must decide about them. While calls wait for the caller, a turn must
 *          answer all of them and no others; beside decisions it may answer none. A submission without results is refused.
 * REFUSE2. When one of the answers of a turn is refused, all are, and nothing changes. An input beside answers is refused while a call
 *          waits that the turn does not answer.
 * MAIL4. An input that waits for an answer, for tool results or for decisions does not hold up the turns behind it, which may
 *        bring them.
 * MAIL6. While the chat asks a question, an input begins a turn only if it names that question (MAIL5). Then it is the answer. Each other
 *        input waits until the question is answered, withdrawn or dropped.
 * MAIL7. Results without an answer leave the question of their step open: their turn sends no request, and ends with `ask_user`. The
 *        question keeps its name, so that an input that names it is its answer. An input in the turn of the results is its answer at once.
 */
import { SessionError } from "../errors/index.ts"
import type { InboxState } from "./takenInputs.ts"
import { decide, type Decided, decidedBefore, type DecidedBefore, pendingApprovalsOf, waitsFor } from "../step/index.ts"
import { type Conversation, isChildId, isRuntimeInput, isWaiting } from "../record/index.ts"
import * as Inbox from "./Inbox.ts"
import { isInput, type TurnData } from "./turnData.ts"

/** The state that decides which turn is next. */
type Asking = Pick<InboxState, "record" | "inbox" | "turn">

/** The name of the question of a tool that a turn of this input ended with: calls of other turns may have the same id. */
export const questionName = (turn: string | undefined, toolCallId: string): string => `${turn ?? ""} ${toolCallId}`

/** The name of the question that the chat asks; `undefined` if it asks none. */
export const questionOf = (context: Pick<Asking, "record" | "turn">): string | undefined => {
  const { pendingQuestion, inputs } = context.record
  return pendingQuestion === undefined || isInterrupted(context)
    ? undefined
    : questionName(inputs?.[0], pendingQuestion.toolCallId)
}

/** Whether the turn of the record ended with its process, and no turn has begun since (INT1). */
export const isInterrupted = ({ record, turn }: Pick<Asking, "record" | "turn">): boolean =>
  record.running && turn === undefined

/** Whether an input begins no turn now: it is no answer (MAIL6), or the runtime sent it, and its chain is over (CHAIN3). */
export const isHeldBack = (
  context: Pick<Asking, "record" | "turn">,
  turn: Pick<TurnData, "messages" | "followed" | "answers" | "decisions"> | undefined
): boolean => {
  if (turn === undefined) return false
  const question = questionOf(context)
  if (question !== undefined && isInput(turn) && turn.answers !== question) return true
  return context.record.chain?.isOver === true && isRuntimeInput(turn)
}

/** The next turn to run (MAIL4). */
export const nextTurn = (context: Asking): Inbox.WaitingTurn | undefined => {
  const { inbox, record } = context
  const mayHold = record.pendingQuestion !== undefined || record.chain?.isOver === true || waitsForAnswers(record)
  const isHeldUp = (turn: TurnData): boolean => mustWait(context, turn) || isHeldBack(context, turn)
  return Inbox.next(mayHold ? inbox.filter((turn) => !isHeldUp(turn)) : inbox)
}

const waitsForAnswers = ({ pendingToolCalls, open }: Conversation): boolean =>
  pendingToolCalls.length > 0 || (open !== undefined && isWaiting(open))

/** Whether an input waits until the chat has its tool results or decisions: an accepted input is not refused. */
export const mustWait = (
  { record }: Pick<InboxState, "record">,
  { messages, decisions }: Pick<TurnData, "messages" | "decisions">
): boolean => waitsForAnswers(record) && decisions === undefined && messages[0]?.role === "user"

/** Whether an input of this inbox waits, in a chat at rest, for an answer, for tool results, for decisions or for the next chain. */
export const waitsIn = (context: Asking | undefined, { id }: Pick<TurnData, "id">): boolean => {
  const turn = context?.turn === undefined ? context?.inbox.find((waiting) => waiting.id === id) : undefined
  return context !== undefined && turn !== undefined && (mustWait(context, turn) || isHeldBack(context, turn))
}

/** The parts of a record that a turn may answer. */
type Answerable = Pick<Conversation, "pendingToolCalls" | "thread" | "open"> &
  Partial<Pick<Conversation, "pendingQuestion" | "running">>

/** Why a turn cannot begin; `undefined` when it can (REFUSE1, REFUSE2). */
export const refusalOf = (
  { pendingToolCalls: pending, thread, open, pendingQuestion, running }: Answerable,
  { messages, decisions, compacts, retry }: Pick<TurnData, "messages" | "decisions" | "compacts" | "retry">
): SessionError | undefined => {
  if (retry === true && thread.messages.length === 0) return nothingToRetry()
  if (compacts === true)
    return (open ?? pendingQuestion ?? pending[0]) === undefined && running !== true ? undefined : notCompacted()
  const hasInput = messages.some(({ role }) => role === "user")
  if (decisions !== undefined || (open !== undefined && isWaiting(open))) {
    const refused = undecided({ thread, open }, decisions, hasInput)
    if (refused !== undefined) return refused
  }
  const hasResults = messages.some(({ role }) => role === "tool")
  if (!hasResults && (pending.length === 0 || (decisions !== undefined && !hasInput))) return undefined
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])))
  const awaited = new Set(pending.map((call) => call.id))
  const foreign = [...answered].find((id) => !awaited.has(id))
  if (foreign !== undefined) return unknownToolCall(foreign, awaited)
  if (pending.every((call) => answered.has(call.id))) return undefined
  return new SessionError(
    "awaiting_tool_results",
    `The chat waits for the results of ${pending.map((call) => `${call.name} (${call.id})`).join(", ")}; give them with answer({ results }) or submitToolResults`
  )
}

/** The error for a retry in an empty thread, which it may have become while the retry waited. */
export const nothingToRetry = (): SessionError =>
  new SessionError("nothing_to_retry", "Nothing was said yet in the chat; use send")

/** COMPACT3 */
const notCompacted = (): SessionError =>
  new SessionError(
    "invalid_status_for_operation",
    "The chat waits, or its turn was interrupted, so that its thread is not compacted; answer it, or go on with retry",
    { metadata: { operation: "compact", legal: ["answer", "retry"] } }
  )

/** Why a submission without results is refused: results are missing, or the chat waits for none. */
export const withoutResults = (record: Conversation | undefined): SessionError => {
  const message = "The chat waits for no tool results; say something with send, or retry"
  const metadata = { operation: "submitToolResults", legal: ["send", "retry"] }
  return refusalIn(record) ?? new SessionError("invalid_status_for_operation", message, { metadata })
}

/** Why an answer to no question is refused: decisions or results are missing, or the chat asks nothing. */
export const withoutQuestion = (record: Conversation | undefined): SessionError =>
  refusalIn(record) ?? new SessionError("no_question", "The chat asks no question now; say something with send")

const refusalIn = (record: Conversation | undefined): SessionError | undefined =>
  record && refusalOf(record, { messages: [] })

const undecided = (
  { thread, open }: Pick<Conversation, "thread" | "open">,
  decisions: ReadonlyArray<Decided> = [],
  hasInput = false
): SessionError | undefined => {
  const unknown = decisions.find((decided) => open === undefined || !waitsFor({ thread, open }, decided))
  if (unknown !== undefined) {
    return undecidedCall(unknown.toolCallId, waitingIds(thread, open), decidedBefore({ thread, open }, unknown))
  }
  const left = open && decide({ thread, open }, decisions)
  if (left === undefined || !isWaiting(left) || (decisions.length > 0 && !hasInput)) return undefined
  const toolCallIds = waitingIds(thread, left)
  return new SessionError(
    "awaiting_approval",
    `The chat waits for a decision about ${toolCallIds.join(", ")}; decide with approve`,
    { metadata: { toolCallIds } }
  )
}

const waitingIds = (...[thread, open]: Parameters<typeof pendingApprovalsOf>): ReadonlyArray<string> => [
  ...new Set(pendingApprovalsOf(thread, open).map(({ toolCall }) => toolCall.id))
]

/** The error for a decision about a call that does not wait for one; `before` is what was decided about it. */
export const undecidedCall = (
  toolCallId: string,
  waiting: ReadonlyArray<string>,
  before: DecidedBefore | undefined
): SessionError => {
  const unknown = waiting.includes(toolCallId)
    ? `The decision about ${toolCallId} is not for the wait that has this id now`
    : `No call ${toolCallId} waits for a decision`
  const why =
    before === undefined
      ? unknown
      : `The call ${toolCallId} does not wait any more: ${before.decision === undefined ? `it is ${before.outcome}` : `decided, ${before.decision.type}`}`
  return new SessionError("unknown_tool_call_id", `${why}; the chat waits for ${waiting.join(", ") || "none"}`, {
    metadata: { toolCallId, ...before }
  })
}

/** The error for a result of a call that the chat does not wait for. */
export const unknownToolCall = (id: string, pending: ReadonlySet<string>): SessionError =>
  new SessionError(
    "unknown_tool_call_id",
    isChildId(id)
      ? `The call ${id} is one of a sub-agent; give its result with approve(${JSON.stringify(id)}, { type: "result", value })`
      : `The chat does not wait for a call ${id}; it waits for ${[...pending].join(", ") || "none"}`,
    { metadata: { toolCallId: id } }
  )
