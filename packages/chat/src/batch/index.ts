/** The tool calls of one assistant message: the order in which they start, the gate, the outcomes and their supervision. */
export { batchActors, batchMachine } from "./BatchMachine.ts"
export { defaultLimit, Scheduler } from "./Scheduler.ts"
export { BatchLife } from "./batchContract.ts"
export type { BatchLedger, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { accessesOf } from "./callAccesses.ts"
export type { CallAccesses } from "./callAccesses.ts"
export { notFound } from "./callStarts.ts"
export { notAgain, stillUnknown, unknownOutcome, unknownReason } from "./unknownOutcome.ts"
