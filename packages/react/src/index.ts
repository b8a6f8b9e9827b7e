/**
 * Chats and the observer in React.
 *
 * @module
 */
export { local } from "@troupe/server/Local"
export { useChat } from "./Conversation.ts"
export type { Conversation, ConversationOptions, ConversationStatus, ConversationVerbs } from "./Conversation.ts"
export { useChats } from "./Conversations.ts"
export type { Conversations, ConversationsOptions } from "./Conversations.ts"
export { useObserver, useProcess, useTimeline } from "./Observed.ts"
export type { Observed } from "./Observed.ts"
export { TroupeProvider, useTroupe } from "./Provider.ts"
export { useSnapshot } from "./Snapshot.ts"
export type { HasSnapshot, HasState } from "./Snapshot.ts"
