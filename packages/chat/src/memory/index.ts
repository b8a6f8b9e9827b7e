/** Memories: their data, what a turn changes of them, and how a request has them. */
export { MemoryChange, remembering } from "./memory.ts"
export type { Memory } from "./memory.ts"
export { isRecalled, recalledMessage, recallTool } from "./recalled.ts"
export { changesOf, notedIn } from "./turnMemories.ts"
