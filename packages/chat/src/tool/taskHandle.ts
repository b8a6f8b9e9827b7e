/** The result of a call whose work has become a background task. */
import type { BackgroundTask } from "../record/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The tasks of the values that are results of calls. */
const begun = new WeakMap<object, BackgroundTask>()

/** The result of the call of this task, as the model reads it. */
export const taskHandle = (task: BackgroundTask): HandlerResult.Ok => {
  const note = "The task runs in the background. A message reports its end; go on without waiting for it."
  const value = { task: task.id, status: "running", note }
  begun.set(value, task)
  return HandlerResult.ok(value)
}

/** The task that a result begins, if it is such a result. */
export const taskIn = (result: HandlerResult.HandlerResult): BackgroundTask | undefined =>
  result.type === "ok" && typeof result.value === "object" && result.value !== null
    ? begun.get(result.value)
    : undefined
