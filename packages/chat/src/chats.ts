/**
 * The options, results, snapshots and readers of chats.
 *
 * @module
 */
export type { Attached, ChatSnapshot, LiveTurn, ToolCallView } from "./live/ChatRef.ts"
export type { ChatOptions, StepOptions } from "./options/ChatOptions.ts"
export { ChatResult, lastText } from "./record/ChatResult.ts"
export { StepResult } from "./record/StepResult.ts"
