/** Chats as supervised processes: the Troupe, its directory of chats, and the references to them. */
export type { RunningTroupe } from "./Troupe.ts"
export { chatAt, livingChatsOf } from "./chatDirectory.ts"
export type { TroupeOptions } from "./troupeOptions.ts"
