/** One tool call: its statechart, deadlines, handler run and outcome, and handlers that outlive their call (zombies). */
export { callActors, callEffects, toolCallMachine } from "./ToolCallMachine.ts"
export type { CallEnv, RunnableCall } from "./callEnv.ts"
export type { CallEnd, ToolCallEvent, ToolCallInput } from "./callEvents.ts"
export {
  augmented,
  haltedAfter,
  haltedOutcome,
  haltedText,
  refusalIn,
  refusedOutcome,
  resultOf,
  withArguments,
  withMetadata,
  outcomeOf,
  unknownIn
} from "./gateOutcome.ts"
export type { OutcomeRules } from "./resultContent.ts"
export { aboutOf, viewOfEnded } from "./toolCallView.ts"
export type { CallCommand, CallControl, ChildView, ToolCallView, ToolCallWatcher } from "./toolCallView.ts"
export { endedEarly, toolFailure, toolOutcome } from "./toolOutcome.ts"
export type { ToolOutcome } from "./toolOutcome.ts"
export { WaitedCalls } from "./waitedCalls.ts"
export { watchZombies } from "./zombieTable.ts"
