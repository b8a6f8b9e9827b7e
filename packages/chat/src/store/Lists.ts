/**
 * The lists of a store: of conversations, of their entries, and of what they wait for.
 *
 * **When to use**: in a store of your own. The options are checked and completed, and the items are made of records.
 *
 * @module
 */
export { historyOptions, listOptions, searched, summaryOf, secretOptions } from "./chatList.ts"
export {
  forgottenMs,
  memoryListOptions,
  memoryScope,
  mostMemories,
  recallOptions,
  queryWords,
  rankedMessages,
  searchOptions,
  stemOf
} from "./messageSearch.ts"
export type { MemoryList, MemoryListOptions, RecallOptions, FoundMessage, SearchOptions } from "./messageSearch.ts"
export type { Wait, WaitList, WaitOptions } from "./waitList.ts"
export { waitCursor, waitOptions } from "./waitList.ts"
export type { Memory, MemoryChange } from "../compaction/index.ts"
export { waitsOf } from "../record/index.ts"
