/** The child chats and the background tasks of tool calls: their processes, and how their ends reach the chat. */
export { BackgroundTasks } from "./backgroundTasks.ts"
export { tasksFor } from "./chatTasks.ts"
export type { TaskedChat } from "./taskReport.ts"
export { ChildChats } from "./childChats.ts"
export { withoutLimit } from "./childWaits.ts"
export { reviveTasks } from "./taskRevival.ts"
