/** The tool calls of one assistant message: the gate, the schedule, the slots and the supervision of all calls. */
export { keyOf } from "./batchPlan.ts"
export type { BatchLedger, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { callsFindings } from "./callChecks.ts"
export { planOf } from "./startOrder.ts"
export type { Access, Plan } from "./startOrder.ts"
export { notFound, toolBatch } from "./toolBatch.ts"
export { notAgain, stillUnknown, unknownOutcome, unknownReason } from "./unknownOutcome.ts"
