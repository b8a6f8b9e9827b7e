/** The inputs of one chat that wait for their turn: their bounds, order, status and receipts. */
export { InboxTally, requestRefusal } from "./inboxBound.ts"
export type { InboxLimits } from "./inboxBound.ts"
export { Delivery, inputId, unknownOutcome } from "./inputReceipt.ts"
export {
  delivered,
  doubted,
  hasOther,
  isUnanswered,
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
  mustWait,
  nextTurn,
  questionName,
  questionOf,
  refusalOf,
  undecidedCall,
  unknownToolCall,
  waitsIn,
  withoutResults
} from "./turnAdmission.ts"
