/**
 * The background tasks of a child, from the end of its turn to the end of its call.
 *
 * Owns: nothing. The record of the child has its tasks.
 *
 * SUB21. A call is over when the background tasks that its child began are: the child has read their ends, or they wait for a person. A
 *        child that waits for a person itself ends its call at once, and its tasks go on. A call that is cancelled cancels them.
 * SUB22. With `turnEnds: "now"` a call is over with the turn of its child. The tasks go on in a task of the parent, whose end has the last
 *        reply. Without a place for that, the call is over with the tasks.
 */
import { type FamilyChat, nextChange } from "../family/index.ts"
import { endInputOf, tasksOf, waitOfTask } from "../record/index.ts"
import type { SubagentCall } from "../tool/index.ts"
import type { WakeWork } from "./backgroundTasks.ts"
import { inputOf } from "./childCalls.ts"
import { ownAsksOf } from "./childWaits.ts"

/** Whether no task of a child at rest works: each has an end that the child has, or waits for a person. Or the child itself waits for one (SUB21). */
export const areOver = ({ id, context }: FamilyChat): boolean => {
  if (context === undefined || ownAsksOf({ id, context }).length > 0) return true
  const { record, inbox } = context
  const ends = new Set(inbox.map((input) => input.id))
  return tasksOf(record).every((task) => waitOfTask(task) !== undefined || ends.has(endInputOf(task.id)))
}

/** Resolves when no task of the child works, and the child rests; also when the signal is aborted. */
export const tasksOver = async (chat: FamilyChat, signal: AbortSignal): Promise<void> => {
  for (await chat.rests(); !signal.aborted && !areOver(chat); await chat.rests()) await nextChange(chat, signal)
}

/** The work of a task of the parent in which the tasks of a child go on (SUB22). */
export const workOn = ({ context }: FamilyChat, call: SubagentCall): WakeWork => ({
  input: "Go on with your background tasks.",
  key: `${call.key}/tasks`,
  follows: { input: inputOf(call).id, counted: context?.record.usage ?? {} }
})
