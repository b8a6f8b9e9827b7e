/**
 * The options, results, snapshots and readers of chats.
 *
 * @module
 */
export type * as ChatRef from "./live/ChatRef.ts"
export type {
  Budget,
  ChatOptions,
  GenerateOptions,
  OnToolError,
  StepOptions,
  ToolErrorDecision
} from "./options/ChatOptions.ts"
export * as ChatResult from "./record/ChatResult.ts"
export type * as Inbox from "./record/Inbox.ts"
export * as StepResult from "./record/StepResult.ts"
