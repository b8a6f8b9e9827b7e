/** The chats of a cluster, as this program uses them. */
export type { ChatDown, ChatMonitor } from "./ChatMonitor.ts"
export { ClusterChatRef } from "./ClusterChatRef.ts"
export type { ClusterChatParts } from "./ClusterChatRef.ts"
export { nodeClient, pathPart } from "./nodeClient.ts"
