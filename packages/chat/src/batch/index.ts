/** The tool calls of one assistant message: the gate, the outcomes and the supervision of all calls. */
export type { BatchLedger, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { callsFindings } from "./callChecks.ts"
export { notFound, toolBatch } from "./toolBatch.ts"
export { notAgain, stillUnknown, unknownOutcome, unknownReason } from "./unknownOutcome.ts"
