/**
 * The options, results, snapshots and readers of chats.
 *
 * @module
 */
export type { ToolCallView } from "./call/toolCallView.ts"
export type { ChatTurn } from "./troupe/ChatRef.ts"
export type { LiveTurn } from "./live/liveTurn.ts"
export type { ChatOptions } from "./options/ChatOptions.ts"
export { ChatResult, lastText } from "./record/ChatResult.ts"
export { StepResult } from "./record/StepResult.ts"
export type { Attached, CallItem } from "./view/attachOptions.ts"
export type { ChatSnapshot } from "./view/liveView.ts"
