/** Hooks over a chat, a list of chats, a snapshot or the observer. */
export { useSnapshot } from "./Snapshot.ts"
