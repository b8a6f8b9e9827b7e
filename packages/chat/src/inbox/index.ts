/** The inputs of one chat that wait for their turn: their bounds, order, status and receipts. */
export { InboxTally, requestRefusal } from "./inboxBound.ts"
export type { InboxLimits } from "./inboxBound.ts"
export { answersDigest } from "./answers.ts"
export type { AnswerOptions, Answers } from "./answers.ts"
export { Delivery, inputId, unknownOutcome } from "./inputReceipt.ts"
export {
  contentDigest,
  delivered,
  doubted,
  hasBegun,
  hasOther,
  lost,
  naming,
  taking,
  takingSteers,
  withdrawn
} from "./takenInputs.ts"
export type { InboxState, LostInputs } from "./takenInputs.ts"
export type { Discarded } from "./Inbox.ts"
export { dataOf, isInput } from "./turnData.ts"
export type { Turn, TurnData } from "./turnData.ts"
export {
  isHeldBack,
  isInterrupted,
  mustWait,
  nextTurn,
  questionName,
  questionOf,
  refusalOf,
  undecidedCall,
  unknownToolCall,
  waitsIn,
  withoutQuestion,
  withoutResults
} from "./turnAdmission.ts"
