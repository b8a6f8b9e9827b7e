/**
 * Drops a step that no store can save, after a failed commit.
 *
 * UNSAVABLE1. When a commit fails and a message of the thread can never be stored, that message and all later ones are
 *             dropped. With it no later turn could store the thread.
 * UNSAVABLE2. When every message can be stored, nothing is dropped: the next turn stores the thread.
 */
import type { StepResult } from "../record/index.ts"
import { write } from "../values/index.ts"
import type { Standing } from "./recovery.ts"

/** The changes that remove messages that cannot be stored; no changes if all can be stored. */
export const withoutUnsavable = ({
  thread,
  steps,
  open,
  pendingQuestion,
  pendingToolCalls
}: Standing & { readonly steps: ReadonlyArray<StepResult> }) => {
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
