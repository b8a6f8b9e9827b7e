/**
 * Chats as supervised processes.
 *
 * `Troupe` runs live chats, `Chat` runs steps and chats on plain values. The other doors: `@troupe/chat/messages`,
 * `/agents`, `/models`, `/compaction`, `/events`, `/tools`, `/chats`, `/sessions`, `/store`, `/view`, `/observe`, `/machines`, `/effect`,
 * `/dispatch`, `/errors`, `/results` and `/testing`.
 *
 * @module
 */
export type { ChatRef } from "./troupe/ChatRef.ts"
export type { LocalChatRef } from "./troupe/LocalChatRef.ts"
export { Troupe } from "./troupe/Troupe.ts"
export type { RunningTroupe, TroupeOptions } from "./troupe/Troupe.ts"
export * as Chat from "./loop/Chat.ts"
export { user } from "./model/Message.ts"
export * as Engine from "./options/Engine.ts"
export * as Fake from "./adapter/Fake.ts"
export { tool } from "./tool/functionTool.ts"
export { askUser, error, halt, ok } from "./values/HandlerResult.ts"
