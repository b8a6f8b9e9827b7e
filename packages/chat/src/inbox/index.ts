/** The inputs of one chat that wait for their turn: their bounds, order, status and receipts. */
export type { Discarded, Holding } from "./Inbox.ts"
export { answersDigest } from "./answers.ts"
export type { AnswerOptions, Answers } from "./answers.ts"
export { SparseMap, InboxTally, requestRefusal } from "./inboxBound.ts"
export type { InboxLimits } from "./inboxBound.ts"
export { Delivery, inputId, notStored, unknownOutcome } from "./inputReceipt.ts"
export {
  LiveTurns,
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
export { dataOf, isInput } from "./turnData.ts"
export type { Turn, TurnData } from "./turnData.ts"
