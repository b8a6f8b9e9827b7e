/** Hooks over a chat, a list of chats, what they wait for, a snapshot or the observer. */
export { useChat } from "./Conversation.ts"
export type { Conversation } from "./Conversation.ts"
export type { Conversations } from "./Conversations.ts"
export { useSnapshot } from "./Snapshot.ts"
export type { Waiting } from "./Waiting.ts"
export { lineOf } from "./line.ts"
