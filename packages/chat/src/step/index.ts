/** One step: a model request and the tool calls it asked for, the journal of calls, and recovery after a crash. */
export { haltIn, isAbout, waitingBelow } from "./childAsks.ts"
export type { Asked, Decided } from "./childAsks.ts"
export { boundDecision, checkedDecision } from "./decisionChecks.ts"
export { leftOut } from "./decisions.ts"
export { Journal, withJournal } from "./journal.ts"
export {
  asksIn,
  decide,
  decidedBefore,
  firstExpiry,
  openToolCalls,
  resultsSince,
  pendingApprovalsOf,
  waitsFor,
  withCallersResults,
  withResults
} from "./openCalls.ts"
export type { DecidedBefore, Opened } from "./openCalls.ts"
export { closed, goingOn, manualOf, revived } from "./recovery.ts"
export { decideTasks, taskApprovals, taskAskAt, taskDecision } from "./taskAsks.ts"
export { StepRun } from "./stepRun.ts"
export type { StepEnding, StepLive, StepProgress, StepWatcher } from "./stepState.ts"
export { withoutUnsavable } from "./unstorable.ts"
export type { Compacting, CompactionOpening, CompactionStep } from "./compactionRun.ts"
export { compactingAfter, Compactions, leadsToCompaction } from "./compactionRun.ts"
