/** The child chats of tool calls: their supervisors, their turns and their ends. */
export { ChildChats } from "./childChats.ts"
export { withoutLimit } from "./childWaits.ts"
export type { FamilyChat } from "./familyChat.ts"
export type { TreeBounds } from "./treeLimits.ts"
