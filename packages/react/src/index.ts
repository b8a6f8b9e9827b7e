/**
 * Chats and the observer in React.
 *
 * @module
 */
export { local } from "@troupe/server/Local"
export { useAnswer } from "./hooks/Answer.ts"
export type { Answer } from "./hooks/Answer.ts"
export { useChat } from "./hooks/Conversation.ts"
export type { Conversation, ConversationOptions, ConversationVerbs } from "./hooks/Conversation.ts"
export { useChats } from "./hooks/Conversations.ts"
export type { Conversations, ConversationsOptions } from "./hooks/Conversations.ts"
export { useObserver, useProcess, useTimeline } from "./hooks/Observed.ts"
export type { Observed } from "./hooks/Observed.ts"
export {
  EventLog,
  Observer,
  ProcessPane,
  ProcessTree,
  StateChart,
  TurnTimeline,
  UsageMeters
} from "./observer/Observer.tsx"
export type {
  EventLogProps,
  ObserverProps,
  Prices,
  ProcessPaneProps,
  ProcessTreeProps,
  StateChartProps,
  TurnTimelineProps,
  UsageMetersProps
} from "./observer/Observer.tsx"
export { TroupeProvider, useTroupe } from "./hooks/Provider.ts"
export { useSnapshot } from "./hooks/Snapshot.ts"
export type { HasSnapshot, HasState } from "./hooks/Snapshot.ts"
export { useWaiting } from "./hooks/Waiting.ts"
export type { Waiting, WaitingOptions } from "./hooks/Waiting.ts"
