/** Stored conversations: the port, its in-memory implementation, the log of commits and drafts. */
export { takesDrafts } from "./chatHeads.ts"
export type { Draft } from "./chatHeads.ts"
export { CommitChain } from "./commitChain.ts"
export type { SaveRecord } from "./commitChain.ts"
export { Commit, blank } from "./commitLog.ts"
export { Drafts } from "./drafts.ts"
export type { DraftKeeping } from "./drafts.ts"
export { checkRecord } from "./recordChecks.ts"
export type {
  Accepted,
  Appending,
  ChatList,
  Fence,
  HistoryOptions,
  Home,
  ListOptions,
  SessionStore
} from "./sessionStore.ts"
export type { WaitList, WaitOptions } from "../lists/index.ts"
export { fenceOf, isUnanswered } from "./storeCall.ts"
export type { StoreCall, StoreValues } from "./storeCall.ts"
export { forgetChat, guarded, storeServer } from "./storeServer.ts"
export type { Guarded, Left, StoreServer } from "./storeServer.ts"
