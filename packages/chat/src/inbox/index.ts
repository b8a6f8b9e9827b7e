/** The inputs of one chat that wait for their turn: their bounds, order, status and receipts. */
export { InboxTally, requestRefusal } from "./inboxBound.ts"
export type { InboxLimits } from "./inboxBound.ts"
export { answersDigest } from "./answers.ts"
export type { AnswerOptions, Answers } from "./answers.ts"
export { LiveTurns } from "./liveTurns.ts"
export { Delivery, inputId, notStored, unknownOutcome } from "./inputReceipt.ts"
export {
  contentDigest,
  delivered,
  hasBegun,
  hasOther,
  lost,
  naming,
  rowless,
  taking,
  takingSteers,
  withdrawn
} from "./takenInputs.ts"
export type { InboxState, LostInputs } from "./takenInputs.ts"
export type { Discarded, Holding } from "./Inbox.ts"
export { dataOf, isInput } from "./turnData.ts"
export type { Turn, TurnData } from "./turnData.ts"
export {
  isHeldBack,
  isInterrupted,
  mustWait,
  nextTurn,
  nothingToRetry,
  questionName,
  questionOf,
  refusalOf,
  undecidedCall,
  unknownToolCall,
  waitsIn,
  withoutQuestion,
  withoutResults
} from "./turnAdmission.ts"
