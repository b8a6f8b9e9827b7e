/** The lists of a store: their options, their items, and an index by prefix. */
export { blobOptions, claimOptions, historyOptions, listOptions, searched, summaryOf } from "./chatList.ts"
export type { ChatList, ChatSummary, HistoryOptions, ListOptions } from "./chatList.ts"
export { Escalation } from "./escalation.ts"
export { bestOf, rankedMessages, searchOptions } from "./messageSearch.ts"
export type { FoundMessage, SearchOptions } from "./messageSearch.ts"
export { MemoryWaits } from "./memoryWaits.ts"
export { PrefixIndex } from "./prefixIndex.ts"
export type { Wait, WaitList, WaitOptions } from "./waitList.ts"
