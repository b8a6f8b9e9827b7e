/**
 * The final answer of a turn in two passes, the second of which is one request for it in its final form; and the answer to a tool's question.
 *
 * TWO1. The second pass follows only a first pass that ended with `completed`, `max_turns` or `halt_when`. It is one step
 *       without tools. If the first pass used up the budget, the turn ends with that instead.
 * TWO2. When the second pass is refused, the turn has the first pass's result, with
 *       `metadata.structuredFinalize.pass2Error`.
 * TWO3. A turn of a live chat has two passes when its options ask for two, and its question or its options have a JSON Schema.
 *       The options of an input apply to its turn only.
 * QANSW1. As a result, the answer replaces the placeholder in the tool message of the asking call, and the question after
 *         it is removed: the thread reads as if the tool had returned the answer. Without a placeholder, the call has its
 *         result, and the answer is a message of its own.
 *
 * @source ALLM.Chat, "structured_finalize semantics"
 */
import type { ChatResult, PendingQuestion } from "../record/index.ts"
import { askedFormat, type RunOptions } from "../options/index.ts"
import type { Terminal } from "./chainLimits.ts"
import type { Message, ToolMessage, UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { awaitingUser } from "../values/index.ts"

const defaultNudge = "Now provide your final structured response."

const followed: ReadonlySet<string> = new Set(["completed", "max_turns", "halt_when"])

/** Whether a second pass follows a first pass that ended for this reason, in a turn of two passes. */
export const isFollowed = ({ reason }: Terminal): boolean => followed.has(reason)

/**
 * What the turns of two passes have.
 *
 * - `nudge`: the message before the second pass
 * - `formless`, in a live chat: whether the options have no JSON Schema
 */
export interface Finalize {
  readonly nudge?: string | undefined
  readonly formless?: boolean | undefined
}

/** What a turn with these options has for two passes, if they ask for two. */
export const finalizeOf = (options: RunOptions): Finalize | undefined => {
  const { structuredFinalize, structuredFinalizeNudge: nudge, chat, responseFormat } = options
  if (structuredFinalize !== true) return undefined
  return chat === undefined ? { nudge } : { nudge, formless: responseFormat?.type !== "json_schema" }
}

/** Whether a turn on this thread has two passes (TWO3). */
export const hasTwoPasses = (finalize: Finalize | undefined, thread: Thread.Thread): finalize is Finalize => {
  if (finalize?.formless === undefined) return finalize !== undefined
  const asked = askedFormat(thread)
  return asked === undefined ? !finalize.formless : asked.type === "json_schema"
}

/** The options of the steps of a pass. */
export const passOptions = <Options extends RunOptions>(options: Options, isSecond: boolean): Options => {
  if (options.structuredFinalize !== true) return options
  if (!isSecond) return { ...options, responseFormat: undefined }
  return { ...options, tools: [], toolsByName: new Map(), toolChoice: undefined, maxTurns: 1 }
}

/** The thread at the beginning of the second pass. */
export const nudged = (thread: Thread.Thread, nudge = defaultNudge): Thread.Thread =>
  nudge === "" ? thread : Thread.append(thread, { role: "user", content: nudge, writer: { type: "final_answer" } })

/** The result of a turn in two passes, with the reason that ended the first. */
export const finalized = (result: ChatResult, firstPass: ChatResult | undefined): ChatResult =>
  withNote(result, { pass1Halted: firstPass === undefined ? result.haltedReason : firstPass.haltedReason })

/** The result of a turn whose second pass was refused (TWO2). */
export const unfinalized = (firstPass: ChatResult, error: unknown): ChatResult =>
  withNote(firstPass, { pass1Halted: firstPass.haltedReason, pass2Error: error })

const withNote = (result: ChatResult, structuredFinalize: Readonly<Record<string, unknown>>): ChatResult => ({
  ...result,
  metadata: { ...result.metadata, structuredFinalize }
})

/**
 * Where the answer to a tool's question goes.
 *
 * - `"user_message"`: after the question, as a user message; the call's own result stays a placeholder
 * - `"tool_result"`: into the call's result; the question is removed from the thread
 */
export type AnswerForm = "user_message" | "tool_result"

/** The thread with the answer. Without a question, or a placeholder for its answer, the answer is a message of its own. */
export const withAnswer = (
  thread: Thread.Thread,
  question: PendingQuestion | undefined,
  answer: UserMessage,
  form: AnswerForm
): Thread.Thread => {
  const answered =
    form === "user_message" || question === undefined
      ? undefined
      : withResult(thread, { role: "tool", toolCallId: question.toolCallId, content: answer.content })
  if (answered === undefined || question === undefined) return Thread.append(thread, answer)
  const asked = answered.messages.findLastIndex((message) => isQuestion(message, question))
  return asked === -1 ? answered : { ...answered, messages: answered.messages.toSpliced(asked, 1) }
}

/** The thread with this result instead of the placeholder of the asking call; `undefined` if there is no placeholder. */
export const withResult = (thread: Thread.Thread, result: ToolMessage): Thread.Thread | undefined => {
  const at = thread.messages.findLastIndex((message) => standsIn(message, result.toolCallId))
  return at === -1 ? undefined : { ...thread, messages: thread.messages.with(at, result) }
}

const standsIn = (message: Message, toolCallId: string): boolean =>
  message.role === "tool" && message.toolCallId === toolCallId && message.content === awaitingUser

/** Whether a message is the question of a tool. */
export const isQuestion = ({ role, metadata }: Message, { toolCallId }: PendingQuestion): boolean =>
  role === "assistant" && metadata?.["ask_user"] === true && metadata["tool_call_id"] === toolCallId
