/** One step: a model request and its tool calls, the journal of calls, recovery after a crash, and what ends a chain of steps. */
export { budgetSpent, carried, chainNow, chainSpent, timeOf, turnSpent } from "./chainLimits.ts"
export type { Terminal } from "./chainLimits.ts"
export {
  haltIn,
  isAbout,
  waitingBelow,
  decideTasks,
  taskApprovals,
  taskAskAt,
  taskAsks,
  taskDecision
} from "./childAsks.ts"
export type { Asked, Decided } from "./childAsks.ts"
export { compactingAfter, Compactions, leadsToCompaction } from "./compactionRun.ts"
export type { Compacting, CompactionOpening, CompactionStep } from "./compactionRun.ts"
export { boundDecision, checkedDecision } from "./decisionChecks.ts"
export {
  finalized,
  finalizeOf,
  hasTwoPasses,
  isFollowed,
  nudged,
  passOptions,
  unfinalized,
  withAnswer,
  withResult
} from "./finalAnswer.ts"
export type { Finalize, AnswerForm } from "./finalAnswer.ts"
export { Journal, withJournal } from "./journal.ts"
export { lastFingerprint, unproductiveRounds } from "./loopGuards.ts"
export {
  leftOut,
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
export { StepRun } from "./stepRun.ts"
export { withoutUnsavable } from "./stepState.ts"
export type { StepEnding, StepLive, StepProgress, StepWatcher } from "./stepState.ts"
export { awaitingApproval, chatResult, stopping, terminalCondition } from "./stopReason.ts"
export type { Standing } from "./stopReason.ts"
