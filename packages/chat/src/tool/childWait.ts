/** The result of a call whose sub-agent waits for a person: it is no outcome, and the call is suspended. */
import { ToolError } from "../errors/index.ts"
import type { ChildWait } from "../record/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"

/** The waits of the results that `suspending` made: no handler can make one of its own. */
const waits = new WeakMap<HandlerResult.HandlerResult, ChildWait>()

/** The result of a call that is suspended until a person has decided about all of these waits. */
export const suspending = ({ id, name }: ToolCall, child: ChildWait): HandlerResult.Failed => {
  const message = "the sub-agent waits for a person"
  const result = HandlerResult.error(new ToolError("cancelled", { message, toolName: name, toolCallId: id }))
  waits.set(result, child)
  return result
}

/** The waits of a result that suspends its call. */
export const childWaitIn = (result: HandlerResult.HandlerResult): ChildWait | undefined => waits.get(result)
