/** Checks that each result of a request's thread belongs to a call of the message before it. */
import type { Message } from "@troupe/chat/messages"
import { HttpError, quoted } from "../../errors/index.ts"

/**
 * Throws an `HttpError` (422) for a result that follows no message with its call. `field` is the part of the body with the
 * messages.
 */
export const checkResults = (messages: ReadonlyArray<Message.Message>, field: "messages" | "input" | "items"): void => {
  let calls: ReadonlyArray<string> = []
  for (const message of messages) {
    if (message.role !== "tool")
      calls = message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
    else if (!calls.includes(message.toolCallId)) throw orphan(message.toolCallId, field)
  }
}

const orphan = (id: string, field: string): HttpError =>
  new HttpError(
    "invalid_input",
    "A tool result follows no assistant message with its call; send that message before it, or leave the result out",
    { issues: [{ field: [field], reason: `no call ${quoted(id)} before its result` }] }
  )
