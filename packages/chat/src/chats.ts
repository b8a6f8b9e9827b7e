/**
 * The options, results, snapshots and readers of chats.
 *
 * @module
 */
export type * as ChatRef from "./live/ChatRef.ts"
export type * as ChatOptions from "./options/ChatOptions.ts"
export * as ChatResult from "./record/ChatResult.ts"
export type * as Inbox from "./record/Inbox.ts"
export * as StepResult from "./record/StepResult.ts"
export type * as Attachment from "./view/Attachment.ts"
