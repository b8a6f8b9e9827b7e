/** The tool calls of one assistant message: the gate, the outcomes and the supervision of all calls. */
export { batchActors, batchMachine } from "./BatchMachine.ts"
export { BatchLife } from "./batchContract.ts"
export type { BatchEnv, BatchLedger, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { callsFindings } from "./callChecks.ts"
export { notFound } from "./callStarts.ts"
export { notAgain, stillUnknown, unknownOutcome, unknownReason } from "./unknownOutcome.ts"
