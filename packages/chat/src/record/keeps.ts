/**
 * What a record keeps of the one stored before: its first messages and known ids.
 *
 * KEEPS1. Whatever changes a thread other than at its end names the first place that it may have changed. So a save names
 *         what it keeps, and neither the chat nor its store compares two records.
 */
import type { Thread } from "../model/index.ts"
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
  readonly open: OpenStep | undefined
  readonly pendingQuestion: PendingQuestion | undefined
}

/**
 * Keeps what an answer cannot change: the messages up to the first call of the open step without a result, or up to the
 * calls that a question belongs to.
 */
export const keepsAnswered = ({ thread, open, pendingQuestion }: Waiting): Keeps => {
  if (open !== undefined && pendingQuestion === undefined) {
    const done = open.calls.findIndex(({ state }) => state !== "done")
    return keepsFirst(open.at + 1 + (done === -1 ? open.calls.length : done))
  }
  const { messages } = thread
  return keepsFirst(messages.findLastIndex((message) => message.role === "assistant" && "toolCalls" in message) + 1)
}
