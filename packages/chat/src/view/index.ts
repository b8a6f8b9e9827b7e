/** The view of a chat for user interfaces, as plain data, and readers that attach to a chat. */
export type { Attached, AttachOptions, CallItem, ChatItem, LocalAttachOptions } from "./attachOptions.ts"
export type { Attachment } from "./attachmentReader.ts"
export { followChild } from "./childViews.ts"
export { chatMoved, chatStopped, checkAttach, LiveFeed } from "./liveFeed.ts"
export { LiveState } from "./liveState.ts"
export type { DraftKeeping } from "./liveState.ts"
export { LiveView } from "./liveView.ts"
export type { ChatSnapshot, ShownTask, SnapshotObserver } from "./liveView.ts"
