/** The tool calls of one assistant message: the gate, the schedule, the slots and the supervision of all calls. */
export { keyOf } from "./access.ts"
export type { BatchLedger, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { callsFindings } from "./callChecks.ts"
export { planOf } from "./schedule.ts"
export type { Access, Plan } from "./schedule.ts"
export { notFound, toolBatch } from "./toolBatch.ts"
export { notAgain, stillUnknown, unknownOutcome, unknownReason } from "./unknownOutcome.ts"
