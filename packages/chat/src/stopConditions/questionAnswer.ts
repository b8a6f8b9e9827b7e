/**
 * The answer to a tool's question: a message of its own, or the result of the call that asked.
 *
 * QANSW1. As a result, the answer replaces the placeholder in the tool message of the asking call, and the question after
 *         it is removed: the thread reads as if the tool had returned the answer. Without a placeholder, the call has its
 *         result, and the answer is a message of its own.
 */
import type { PendingQuestion } from "../record/index.ts"
import type { Message, ToolMessage, UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { awaitingUser } from "../values/index.ts"

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
