/**
 * The reasons why a message waits behind a turn that has ended.
 *
 * HELDUP1. When the turn before ends and waits for a decision, for tool results or for an answer, the reading ends with the error
 *          `awaiting_approval`, `awaiting_tool_results` or `awaiting_user`. The message stays accepted, and its turn runs later.
 * HELDUP3. A reader that follows its message through the wait gets one notice when the wait begins (TURNREAD3).
 */
import type { ChatSnapshot } from "@troupe/chat/chats"
import { HttpError } from "../errors/index.ts"

/** Why the chat does not run the message of this id for now; `undefined` if it does, or will without a person. */
export const heldUpIn = (context: ChatSnapshot["context"] | undefined, id: string): HttpError | undefined => {
  if (context === undefined || context.turn !== undefined || context.inbox.every((input) => input.id !== id))
    return undefined
  const { pendingApprovals, pendingToolCalls, pendingQuestion } = context
  if (pendingApprovals.some(({ task }) => task === undefined))
    return heldUp("awaiting_approval", "decisions about tool calls")
  if (pendingToolCalls.length > 0) return heldUp("awaiting_tool_results", "tool results")
  if (pendingQuestion !== undefined)
    return heldUp("awaiting_user", "the answer to a question that it asked after this message")
  return undefined
}

const heldUp = (code: "awaiting_approval" | "awaiting_tool_results" | "awaiting_user", what: string): HttpError =>
  new HttpError(
    code,
    `The message is in the conversation's inbox, and the conversation waits for ${what}; it is answered after that, so do not send it again`,
    { headers: HttpError.noResend }
  )
