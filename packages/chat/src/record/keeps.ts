/**
 * What a record keeps of the one stored before: its first messages and known ids.
 *
 * KEEPS1. Whatever changes a thread other than at its end names the first place that it may have changed. So a save names
 *         what it keeps, and the chat compares no records. A store compares only when a save names nothing, or when it
 *         follows a late write.
 */
import { resultPlace, type Thread, type ToolCall } from "../model/index.ts"
import { awaitingUser } from "../values/index.ts"
import type { PendingQuestion } from "./ChatResult.ts"
import type { OpenStep } from "./OpenStep.ts"

/** How many messages and known ids of the record before stay at the beginning of a record. */
export interface Keeps {
  readonly messages: number
  readonly known: number
}

/** No more than both keep; `undefined` keeps everything. */
export const leastOf = (one: Keeps | undefined, other: Keeps | undefined): Keeps | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : { messages: Math.min(one.messages, other.messages), known: Math.min(one.known, other.known) }

/** The part of a conversation that a list of its messages and known ids has. */
interface Counted {
  readonly thread: Thread
  readonly known?: ReadonlyArray<string> | undefined
}

/** The whole of a conversation. */
export const wholeOf = ({ thread, known }: Counted): Keeps => ({
  messages: thread.messages.length,
  known: known?.length ?? 0
})

/** Keeps these first messages. */
export const keepsFirst = (messages: number): Keeps => ({ messages, known: Number.MAX_SAFE_INTEGER })

/** The state of a conversation that waits. */
interface Waiting extends Pick<Counted, "thread"> {
  readonly open?: OpenStep | undefined
  readonly pendingQuestion?: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<Pick<ToolCall, "id">>
}

/**
 * Keeps what an answer, a decision or the end of the wait cannot change: the messages before the placeholder of the answer,
 * before the first result that is missing in the open step, and before the place of the result of a pending call.
 */
export const keepsAnswered = ({ thread: { messages }, open, pendingQuestion, pendingToolCalls }: Waiting): Keeps => {
  const places = pendingToolCalls.map(({ id }) => resultPlace({ messages }, id) ?? messages.length)
  if (open !== undefined) {
    const done = open.calls.findIndex(({ state }) => state !== "done")
    places.push(open.at + 1 + (done === -1 ? open.calls.length : done))
  }
  const placeholder = messages.findLastIndex(
    (message) =>
      message.role === "tool" && message.toolCallId === pendingQuestion?.toolCallId && message.content === awaitingUser
  )
  if (placeholder !== -1) places.push(placeholder)
  return keepsFirst(Math.min(messages.length, ...places))
}
