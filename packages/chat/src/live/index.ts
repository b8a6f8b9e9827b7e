/** Chats as supervised processes: the Troupe, its directory of chats, and the unloading of idle chats. */
export { chatAt, livingChatsOf } from "./chatDirectory.ts"
export type { LiveChat } from "./liveChat.ts"
export { Troupe } from "./Troupe.ts"
export type { RunningTroupe } from "./Troupe.ts"
export type { TroupeOptions } from "./troupeOptions.ts"
