/** The messages of a response in the thread of its conversation. */
import type { Message } from "@troupe/chat/messages"
import { HttpError } from "../../errors/index.ts"
import { isSaid, isStep } from "../index.ts"

type Messages = ReadonlyArray<Message.Message>

/**
 * The messages of a response: the number of messages before its steps, the steps, and the number when it was over.
 *
 * **Details**: `at` is the number of messages before its input. It ends before the next message of a person, and with a step
 * whose calls the client answered. The text of an earlier reply that was cut short stands before its input.
 *
 * Throws an `HttpError` (404) when the thread has no such place.
 */
export const extentOf = (
  messages: Messages,
  at: number
): { readonly first: number; readonly own: Messages; readonly end: number } => {
  const begin = isCutOff(messages, at) ? at + 1 : at
  if (begin >= messages.length) {
    throw new HttpError("not_found", "The conversation no longer has this response")
  }
  let first = begin
  let inputs = 0
  for (let one = messages[first]; one !== undefined && !isStep(one); one = messages[first]) {
    inputs += isSaid(one) ? 1 : 0
    if (inputs > 1) return { first, own: [], end: first }
    first += 1
  }
  for (let index = first; index < messages.length; index++) {
    const message = messages[index]
    if (message === undefined || isSaid(message)) return { first, own: messages.slice(first, index), end: index }
    const behind = resultsBehind(messages, index)
    const ofServer = behind.filter(({ outcome }) => outcome !== undefined)
    if (ofServer.length < behind.length) {
      return { first, own: messages.slice(first, index + 1), end: index + 1 + ofServer.length }
    }
  }
  return { first, own: messages.slice(first), end: messages.length }
}

/** Whether the reply at this place was cut short before the message of a person behind it. */
const isCutOff = (messages: Messages, at: number): boolean => {
  const [reply, next] = [messages[at], messages[at + 1]]
  return (
    reply !== undefined && next !== undefined && isStep(reply) && reply.metadata?.["cancelled"] === true && isSaid(next)
  )
}

/** The results of a message's calls directly behind it. Those that the client gave have no outcome. */
const resultsBehind = (messages: Messages, index: number) => {
  const message = messages[index]
  const calls = new Set(message?.role === "assistant" ? message.toolCalls?.map(({ id }) => id) : [])
  const results: Array<Extract<Message.Message, { role: "tool" }>> = []
  for (let at = index + 1; calls.size > 0; at++) {
    const one = messages[at]
    if (one?.role !== "tool") break
    if (calls.has(one.toolCallId)) results.push(one)
  }
  return results
}
