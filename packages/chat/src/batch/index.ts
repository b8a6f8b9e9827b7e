/** The tool calls of one assistant message: the order in which they start, the gate, the outcomes and their supervision. */
export { BatchCalls, newCalls, startsOf, notAgain, unknownOutcome, unknownReason, BatchLife } from "./batchCalls.ts"
export type {
  CallStart,
  CallsEvent,
  CallState,
  CallStates,
  EndOfCall,
  ToolBatchInput,
  ToolBatchResult
} from "./batchCalls.ts"
export { notFound } from "./nextCalls.ts"
export { calls } from "./runningCalls.ts"
