/** When a run stops: budgets, guards against loops, stop conditions and the final pass without tools. */
export { budgetSpent } from "./budget.ts"
export { finalized, isFollowed, nudged, passOptions, unfinalized } from "./finalAnswerPass.ts"
export { lastFingerprint, unproductiveRounds } from "./loopGuards.ts"
export { withAnswer, withResult } from "./questionAnswer.ts"
export type { AnswerForm } from "./questionAnswer.ts"
export { awaitingApproval, chatResult, stopping, terminalCondition, withQuestion } from "./stopReason.ts"
export type { Standing } from "./stopReason.ts"
export type { Terminal } from "./terminal.ts"
