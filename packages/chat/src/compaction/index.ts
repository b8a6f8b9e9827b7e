/** What a request has of a long thread, and the port by which a chat compacts it. */
export type { CompactionPlan, CompactionSource, Compactor } from "./Compactor.ts"
export { isNote, mostPlan, type Noted, planTool, resultOf, sentMessages, trailingNote } from "./sent.ts"
