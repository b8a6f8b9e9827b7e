/**
 * Chats and the observer in React.
 *
 * @module
 */
export { local } from "@troupe/server/Local"
export { useChat } from "./Conversation.ts"
export type { Conversation, ConversationOptions, ConversationStatus, ConversationVerbs } from "./Conversation.ts"
export { useChats } from "./Conversations.ts"
export type { Conversations, ConversationsOptions } from "./Conversations.ts"
export { useObserver, useProcess, useTimeline } from "./Observed.ts"
export type { Observed } from "./Observed.ts"
export { EventLog, Observer, ProcessPane, ProcessTree, StateChart, TurnTimeline, UsageMeters } from "./Observer.tsx"
export type {
  EventLogProps,
  ObserverProps,
  Prices,
  ProcessPaneProps,
  ProcessTreeProps,
  StateChartProps,
  TurnTimelineProps,
  UsageMetersProps
} from "./Observer.tsx"
export { TroupeProvider, useTroupe } from "./Provider.ts"
export { useSnapshot } from "./Snapshot.ts"
export type { HasSnapshot, HasState } from "./Snapshot.ts"
