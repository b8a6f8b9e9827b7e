/**
 * A step that no store can keep, once a commit has failed.
 *
 * UNSAVABLE1. When a commit fails and a message of the thread cannot be stored at all, that message and those behind it are
 *             dropped. A thread that kept them could not be stored by any later turn.
 * UNSAVABLE2. When every message can be stored nothing is dropped: the next turn stores it.
 */
import type { Thread, ToolCall } from "../model/index.ts"
import type { OpenStep, PendingQuestion, StepResult } from "../record/index.ts"
import { write } from "../values/index.ts"

/** The parts of a chat that refer to its messages. */
interface Kept {
  readonly thread: Thread
  readonly steps: ReadonlyArray<StepResult>
  readonly open: OpenStep | undefined
  readonly pendingQuestion: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
}

/** The context without what cannot be stored; nothing changes where all of it can be. */
export const withoutUnsavable = ({ thread, steps, open, pendingQuestion, pendingToolCalls }: Kept): Partial<Kept> => {
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
