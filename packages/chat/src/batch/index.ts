/** The tool calls of one assistant message: the order in which they start, the gate, the outcomes and their supervision. */
export { BatchCalls, newCalls, startsOf, notAgain, unknownOutcome, unknownReason } from "./batchCalls.ts"
export type { CallStart } from "./batchCalls.ts"
export { BatchLife } from "./batchContract.ts"
export type { CallsEvent, CallState, CallStates, EndOfCall, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
export { notFound } from "./callAccesses.ts"
export { calls } from "./runningCalls.ts"
