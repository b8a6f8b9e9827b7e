/** One tool call: its statechart, deadlines, handler run and outcome, and handlers that outlive their call (zombies). */
export {
  augmented,
  haltedAfter,
  haltedOutcome,
  refusalIn,
  refusedOutcome,
  resultOf,
  withArguments
} from "./gateOutcome.ts"
export { toolCallMachine } from "./ToolCallMachine.ts"
export type { CallWatcher, ToolCallInput } from "./ToolCallMachine.ts"
export { viewOfEnded } from "./toolCallView.ts"
export type { CallCommand, ToolCallView, ToolCallWatcher } from "./toolCallView.ts"
export { endedEarly, toolFailure, toolOutcome } from "./toolOutcome.ts"
export type { OutcomeRules, ToolOutcome } from "./toolOutcome.ts"
export type { Zombie } from "./zombieTable.ts"
