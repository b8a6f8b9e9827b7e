/** What the handler of a call returns: one of the four outcomes, or what only the library's own tools return. */
import { ToolError } from "../errors/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { BackgroundTask, ChildWait } from "../record/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The sub-agent of the call waits for a person: the call is suspended until all of these waits are decided. */
export class ChildWaits {
  readonly type = "child_waits"
  readonly child: ChildWait

  constructor(child: ChildWait) {
    this.child = child
  }
}

/** The work of the call goes on as a background task. */
export class TaskBegan {
  readonly type = "task_began"
  readonly task: BackgroundTask

  constructor(task: BackgroundTask) {
    this.task = task
  }
}

export type Returned = HandlerResult.HandlerResult | ChildWaits | TaskBegan

/** Whether the library made the value. */
export const isReturned = (value: unknown): value is Returned =>
  HandlerResult.isHandlerResult(value) || value instanceof TaskBegan || value instanceof ChildWaits

/** The outcome that the model reads. A call that was cancelled while its sub-agent waited is cancelled. */
export const handlerResultOf = ({ id, name }: ToolCall, returned: Returned): HandlerResult.HandlerResult => {
  switch (returned.type) {
    case "task_began": {
      const note = "The task runs in the background. A message reports its end; go on without waiting for it."
      return HandlerResult.ok({ task: returned.task.id, status: "running", note })
    }
    case "child_waits": {
      const message = "the sub-agent waits for a person"
      return HandlerResult.error(new ToolError("cancelled", { message, toolName: name, toolCallId: id }))
    }
    default:
      return returned
  }
}
