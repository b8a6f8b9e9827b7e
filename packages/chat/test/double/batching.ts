/** Starts the chart of tool calls in a system of the test's own. */
import { StateMachine, type System } from "@troupe/otp"
import { BatchLife, type ToolBatchInput, type ToolBatchResult } from "../../src/batch/batchCalls.ts"
import { toolCallsMachine } from "../../src/loop/ChatMachine.ts"
import { original } from "../../src/values/held.ts"

export const startBatchOf = (system: System.System, input: ToolBatchInput) => {
  const pid = StateMachine.start(system, toolCallsMachine, {
    input: { id: "" },
    env: Object.assign(new BatchLife(), { batch: () => input })
  })
  const output = (): ToolBatchResult | undefined => {
    const { ending } = StateMachine.snapshot(pid).context.step ?? {}
    return ending?.type === "called" ? original(ending.result) : undefined
  }
  return { pid, output }
}
