/** The inputs of one chat that wait for their turn: bounds, order, receipts and storage. */
export { InboxBound } from "./inboxBound.ts"
export {
  accepted,
  carried,
  doubtedKept,
  doubtedLost,
  isUnanswered,
  lostInCommit,
  lostInSave,
  mustSave,
  noSaves,
  notSaved,
  saveBegun,
  saved
} from "./inboxSaves.ts"
export type { LostInputs } from "./inboxSaves.ts"
export type { InboxState } from "./inboxState.ts"
export { Delivery, inputId } from "./inputReceipt.ts"
export { dataOf } from "./turnData.ts"
export type { Turn, TurnData } from "./turnData.ts"
export { mustWait, refusalOf, unknownToolCall, withoutResults } from "./turnAdmission.ts"
export { allTaken, taking, takingSteers, withdrawn, withdrawnIds } from "./uncommittedInputs.ts"
