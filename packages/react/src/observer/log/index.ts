/** The log of a conversation. */
export { EventLog } from "./eventLog.tsx"
export type { EventLogProps } from "./eventLog.tsx"
