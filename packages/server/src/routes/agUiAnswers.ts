/**
 * The answers of a client of AG-UI: decisions, results of its own tools, and the answer to a question.
 *
 * AGUIRUN3. All answers are checked first. If one is empty, or fits nothing that waits or waited, none is used. An answer
 *           that the chat no longer waits for is a repeated one, and changes nothing.
 * AGUIRUN5. A new message with answers follows them. It is used only if nothing else waits for an answer.
 */
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Message } from "@troupe/chat/messages"
import type { Decision } from "@troupe/chat/tools"
import { HttpError } from "../errors/index.ts"
import { checkDecision } from "../access/index.ts"
import type { Call } from "../http/index.ts"
import { type AgUiRequest, answersIn, contentOf, interruptedCall, interruptIds, resultsIn } from "../wire/agUi/index.ts"
import { checkedAnswer, isAnswered, isBelow, isQuestion, isRunning } from "../wire/index.ts"

type Context = ChatSnapshot["context"]

/** The answers that the chat waits for. */
export interface Answers {
  readonly results: Readonly<Record<string, unknown>>
  readonly decided: ReadonlyArray<{ readonly id: string; readonly decision: Decision }>
  /** The answer to the question. */
  readonly text: string | undefined
}

/**
 * The answers of a run that the chat waits for; `undefined` if there are none. Throws an `HttpError`: 403, 413, 422, and 409
 * when the chat never waited for one of them, or waits for more answers before a new message (AGUIRUN3, AGUIRUN5).
 */
export const answersOf = (
  call: Call,
  body: AgUiRequest,
  context: Context,
  hasMessage: boolean
): Answers | undefined => {
  const { pendingToolCalls, pendingApprovals, pendingQuestion } = context
  const { results, decisions, texts } = givenIn(body, call)
  if (!isRunning(context)) checkInterrupts(context, body.resume ?? [])
  const given = pendingToolCalls.filter(({ id }) => results.has(id))
  const decided = pendingApprovals.flatMap((waits) => {
    const { id } = waits.toolCall
    const value = isAnswered(waits) ? (texts.get(id) ?? results.get(id)) : undefined
    const decision = value === undefined ? decisions.get(id) : ({ type: "result", value } as const)
    if (decision === undefined) return []
    checkDecision(call.may, decision, waits)
    return [{ id, decision }]
  })
  const text = pendingQuestion === undefined ? undefined : texts.get(pendingQuestion.toolCallId)
  if (hasMessage && !isRunning(context)) {
    if (decided.length < pendingApprovals.length)
      throw new HttpError("awaiting_approval", "Decide about the tool calls first, with resume")
    if (given.length < pendingToolCalls.length)
      throw new HttpError("awaiting_tool_results", "Give the results of the tool calls first, as tool messages")
  }
  if (given.length + decided.length === 0 && text === undefined) return undefined
  return { results: Object.fromEntries(given.map(({ id }) => [id, results.get(id)])), decided, text }
}

/** All answers of a request. Throws an `HttpError` (413, 422). */
const givenIn = ({ messages, resume }: AgUiRequest, call: Call) => {
  const results = resultsIn(messages)
  const { decisions, answers } = answersIn(resume ?? [])
  for (const one of [...results.values(), ...decisions.values()]) checkedAnswer(one, call.limits.messageCharacters)
  return { results, decisions, texts: new Map(Array.from(answers, ([id, text]) => [id, answerOf(text, call)])) }
}

const answerOf = (text: string, { limits }: Call): string =>
  contentOf({ id: "answer", role: "user", content: text }, limits.messageCharacters) as string

/** Throws an `HttpError` (409) for an answer that the chat neither waits for nor waited for. */
const checkInterrupts = (
  { pendingApprovals, pendingQuestion, thread }: Context,
  resume: NonNullable<AgUiRequest["resume"]>
): void => {
  const waiting = interruptIds(pendingApprovals, pendingQuestion)
  const reason = waiting.length === 0 ? "nothing is pending; leave it out" : `must_be_one_of ${waiting.join(", ")}`
  const issues = resume.flatMap(({ interruptId }, index) =>
    waiting.includes(interruptId) || wasAnswered(thread.messages, interruptedCall(interruptId))
      ? []
      : [{ field: ["resume", index, "interruptId"], reason }]
  )
  if (issues.length === 0) return
  const advice = waiting.length === 0 ? "it waits for no answer" : `it waits for ${waiting.join(", ")}`
  throw new HttpError(
    "invalid_status_for_operation",
    `The conversation does not wait for some of these answers: ${advice}; load it anew`,
    { issues }
  )
}

/** Whether a call, or the one above a wait of a sub-agent, has its result, or has asked its question. */
const wasAnswered = (messages: ReadonlyArray<Message.Message>, id: string | undefined): boolean =>
  messages.some(
    (message) =>
      (message.role === "tool" && (message.toolCallId === id || isBelow(id, message.toolCallId))) ||
      (isQuestion(message) && message.metadata?.["tool_call_id"] === id)
  )
