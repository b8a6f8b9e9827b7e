/** Starts the chart of a batch in a system of the test's own. */
import { StateMachine, type System } from "@troupe/otp"
import { BatchLife, type ToolBatchInput, type ToolBatchResult } from "../../src/batch/batchContract.ts"
import { batchMachine } from "../../src/batch/BatchMachine.ts"
import { original } from "../../src/values/held.ts"

export const startBatchOf = (system: System.System, input: ToolBatchInput) => {
  const pid = StateMachine.start(system, batchMachine, {
    input: { count: input.calls.all.length },
    env: new BatchLife(() => input),
    label: "ToolBatch"
  })
  const output = (): ToolBatchResult | undefined => {
    const result = StateMachine.output(pid)
    return result === undefined ? undefined : original(result)
  }
  return { pid, output }
}
