/**
 * A step that no store can keep, once a commit has failed.
 *
 * UNSAVABLE1. When a commit fails and a message of the thread cannot be stored at all, that message and those behind it are
 *             dropped. A thread that kept them could not be stored by any later turn.
 * UNSAVABLE2. When every message can be stored nothing is dropped: the next turn stores it.
 */
import type { ChatContext } from "../loop/ChatMachine.ts"
import { write } from "../json/taggedJson.ts"

type Kept = Pick<ChatContext, "thread" | "steps" | "open" | "pendingQuestion" | "pendingToolCalls">

/** The context without what cannot be stored; nothing changes where all of it can be. */
export const withoutUnsavable = ({
  thread,
  steps,
  open,
  pendingQuestion,
  pendingToolCalls
}: ChatContext): Partial<Kept> => {
  const [found] = write({ thread }, false).found
  const [, list, at] = found?.field ?? []
  if (list !== "messages" || typeof at !== "number") return {}
  const messages = thread.messages.slice(0, at)
  const calls = new Set(
    messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : [])).map(({ id }) => id)
  )
  return {
    thread: { ...thread, messages },
    steps: steps.filter((step) => step.thread.messages.length <= at),
    open: open === undefined || open.at >= at ? undefined : open,
    pendingQuestion:
      pendingQuestion === undefined || calls.has(pendingQuestion.toolCallId) ? pendingQuestion : undefined,
    pendingToolCalls: pendingToolCalls.filter(({ id }) => calls.has(id))
  }
}
