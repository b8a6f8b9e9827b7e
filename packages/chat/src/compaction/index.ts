/** What a request has of a long thread, the port by which a chat compacts it, and memories. */
export type { CompactionPlan, CompactionSource, Compactor } from "./Compactor.ts"
export { MemoryChange, remembering, recalledMessage, recallTool, changesOf, notedIn } from "./memories.ts"
export type { Memory } from "./memories.ts"
export { isNote, mostPlan, planTool, resultOf, sentMessages, trailingNote } from "./sent.ts"
export type { Noted } from "./sent.ts"
