/** AG-UI events. */
export { agUiSplice } from "./agUiSplice.ts"
export { stepCount, agUiMessages } from "./agUiMessages.ts"
export { interruptsOf, isCurrentVersion } from "./agUiOutcome.ts"
export {
  AgUiRequest,
  answersIn,
  checkLengths,
  contentOf,
  interruptedCall,
  resultIdsIn,
  resultsIn
} from "./agUiRequest.ts"
export type { AgUiInput } from "./agUiRequest.ts"
export { AgUiStream } from "./agUiStream.ts"
export type { AgUiEvent } from "./agUiStream.ts"
export { turnOptionsOf } from "./agUiTurn.ts"
export { sharedStateOf, StateUpdates } from "./sharedState.ts"
