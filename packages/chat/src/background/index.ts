/** The background tasks of chats: their processes, their ends, and how these reach the chat. */
export { BackgroundTasks } from "./backgroundTasks.ts"
export type { TaskedChat } from "./backgroundTasks.ts"
export { reviveTasks } from "./taskRevival.ts"
