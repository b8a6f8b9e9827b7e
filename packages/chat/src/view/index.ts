/** The view of a chat for user interfaces, as plain data, and readers that attach to a chat. */
export type { Attachment } from "./attachmentReader.ts"
export type { AttachOptions, Attached } from "./attachOptions.ts"
export { LiveFeed, chatStopped } from "./liveFeed.ts"
export { LiveView } from "./liveView.ts"
export type { ChatPhase, ChatSnapshot, LiveContext, SnapshotObserver } from "./liveView.ts"
