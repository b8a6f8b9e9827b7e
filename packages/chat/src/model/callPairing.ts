/**
 * The pairing of calls and results in a thread.
 *
 * PAIR1. In a paired thread, exactly one of the tool messages right after an assistant message answers each of its calls,
 *        and there is no other tool message. Every provider accepts such a thread.
 */
import { SessionError } from "../errors/index.ts"
import type { Message, ToolMessage } from "./messageShapes.ts"
import * as Thread from "./Thread.ts"

/** Why a thread cannot be sent to a model (PAIR1). */
export const unpaired = ({ messages }: Thread.Thread): SessionError | undefined => {
  let open: Array<string> = []
  for (const message of messages) {
    if (message.role === "tool") {
      const at = open.indexOf(message.toolCallId)
      if (at === -1) return orphan(message.toolCallId)
      open.splice(at, 1)
      continue
    }
    if (open[0] !== undefined) return unanswered(open[0])
    open = callIds(message)
  }
  return open[0] === undefined ? undefined : unanswered(open[0])
}

/**
 * The thread with this result right after the other results of the same message; at the end when no message made that call.
 */
export const answered = (thread: Thread.Thread, result: ToolMessage): Thread.Thread => {
  const { messages } = thread
  const asking = messages.findLastIndex((message) => callIds(message).includes(result.toolCallId))
  if (asking === -1) return Thread.append(thread, result)
  const after = messages.findIndex((message, index) => index > asking && message.role !== "tool")
  return after === -1 ? Thread.append(thread, result) : { ...thread, messages: messages.toSpliced(after, 0, result) }
}

/** The thread with this result in the order of the calls of its message; at the end when no message made that call. */
export const answeredInOrder = (thread: Thread.Thread, result: ToolMessage): Thread.Thread => {
  const place = resultPlace(thread, result.toolCallId)
  const messages = place === undefined ? [...thread.messages, result] : thread.messages.toSpliced(place, 0, result)
  return { ...thread, messages }
}

/** The place of the missing result of a call: behind the results of the calls before it; `undefined` when no message made that call. */
const resultPlace = ({ messages }: Thread.Thread, id: string): number | undefined => {
  const asking = messages.findLastIndex((message) => callIds(message).includes(id))
  if (asking === -1) return undefined
  const ids = callIds(messages[asking])
  const before = ids.slice(0, ids.indexOf(id) + 1)
  let place = asking + 1
  for (let message = messages[place]; message?.role === "tool"; message = messages[place]) {
    if (!before.includes(message.toolCallId)) break
    place++
  }
  return place
}

const callIds = (message: Message | undefined): Array<string> =>
  message?.role === "assistant" && Array.isArray(message.toolCalls) ? message.toolCalls.map(({ id }) => id) : []

const unanswered = (toolCallId: string): SessionError =>
  new SessionError(
    "unpaired_tool_calls",
    `The call ${toolCallId} of the thread has no result right after it; append its tool message, or leave the call out`,
    { metadata: { toolCallId } }
  )

const orphan = (toolCallId: string): SessionError =>
  new SessionError(
    "unpaired_tool_calls",
    `The result of ${toolCallId} in the thread follows no message that makes this call, or is its second; leave it out`,
    { metadata: { toolCallId } }
  )
