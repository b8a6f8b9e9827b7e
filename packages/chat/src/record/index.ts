/** The stored data of a conversation: its agent, results of steps and of chats, outcomes, approvals, inbox entries and open steps. */
export { Decision, PendingApproval } from "./Approval.ts"
export type { Ask, ChildWait } from "./Approval.ts"
export {
  BackgroundTask,
  begunBy,
  endIn,
  endInputOf,
  endMessage,
  isEndInput,
  isFailedEnd,
  tasksAfterRewind,
  tasksOf,
  unended,
  waitOfTask,
  withTask
} from "./BackgroundTask.ts"
export type { TaskEnd, TaskStatus } from "./BackgroundTask.ts"
export { causedBy, Chain, endsChain, isOfRuntime, isRuntimeInput, over, requestsOf, using } from "./Chain.ts"
export { ChatResult } from "./ChatResult.ts"
export type { HaltedReason, PendingQuestion } from "./ChatResult.ts"
export {
  addressOf,
  agentIn,
  AgentRef,
  bucketOf,
  buckets,
  callOf,
  childId,
  childOfCall,
  isChildId,
  ParentRef,
  rootOf,
  shortIdOf,
  withShortId
} from "./Child.ts"
export {
  Conversation,
  conversationSchema,
  ConversationStatus,
  statusOf,
  continuesChild,
  isWaiting,
  OpenCall,
  OpenStep
} from "./Conversation.ts"
export type { InboxEntry, Receipt, SendOptions, WhenBusy } from "./Inbox.ts"
export { Mode, ModeStanding, modes } from "./PermissionMode.ts"
export { StepHalt, StepResult } from "./StepResult.ts"
export { Entry, evolve, keptBy, saved, savedSchema } from "./entries.ts"
export { entriesBetween, isSameRecord, sharedPrefix } from "./entriesBetween.ts"
export { injected, isInjected, isNudge, sentByTool, userMessage, withContent } from "./userMessage.ts"
export type { UserInput } from "./userMessage.ts"
export { shownOptions, waitKinds, waitsOf } from "./waits.ts"
export type { RecordWait, WaitKind } from "./waits.ts"
