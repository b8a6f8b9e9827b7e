/** Stored conversations: the port, its in-memory implementation, the log of commits, and the lists of a store. */
export { takesDrafts } from "./chatHeads.ts"
export type { Draft } from "./chatHeads.ts"
export { CommitChain } from "./commitChain.ts"
export type { SaveRecord } from "./commitChain.ts"
export { Commit, blank } from "./commitLog.ts"
export { checkRecord } from "./inboxInRecord.ts"
export { searchOptions, memoryScope, recallOptions } from "./messageSearch.ts"
export type { FoundMessage, SearchOptions, MemoryList, MemoryListOptions } from "./messageSearch.ts"
export type {
  ChatList,
  HistoryOptions,
  ListOptions,
  Accepted,
  Appending,
  Fence,
  Home,
  SessionStore
} from "./sessionStore.ts"
export { fenceOf, isUnanswered } from "./storeCall.ts"
export type { StoreCall, StoreValues } from "./storeCall.ts"
export { forgetChat, guarded, storeServer } from "./storeServer.ts"
export type { Guarded, Left, StoreServer } from "./storeServer.ts"
export type { Wait, WaitList, WaitOptions } from "./waitList.ts"
