/**
 * The answer to a tool's question: a message of its own, or the result of the call that asked.
 *
 * ANSW1. As a result, the answer takes the place of what stood in the tool message of the asking call, and the question
 *        that ended the thread goes: the thread reads as if the tool had returned the answer.
 */
import type { PendingQuestion } from "../ChatResult.ts"
import type { UserMessage } from "../Message.ts"
import * as Thread from "../Thread.ts"

/** How an answer is written into the thread. */
export type AnswerForm = "user_message" | "tool_result"

/** The thread with the answer; without a question, or a tool message for it, the answer is a message of its own. */
export const withAnswer = (
  thread: Thread.Thread,
  question: PendingQuestion | undefined,
  answer: UserMessage,
  form: AnswerForm
): Thread.Thread => {
  const asked =
    form === "user_message" || question === undefined
      ? -1
      : thread.messages.findLastIndex(
          (message) => message.role === "tool" && message.toolCallId === question.toolCallId
        )
  if (question === undefined || asked === -1) return Thread.append(thread, answer)
  const messages = thread.messages.with(asked, {
    role: "tool",
    toolCallId: question.toolCallId,
    content: answer.content
  })
  return { ...thread, messages: isQuestion(question, thread) ? messages.slice(0, -1) : messages }
}

/** Whether the thread ends with the question itself. */
const isQuestion = ({ toolCallId }: PendingQuestion, thread: Thread.Thread): boolean => {
  const metadata = Thread.last(thread)?.metadata
  return metadata?.["ask_user"] === true && metadata["tool_call_id"] === toolCallId
}
