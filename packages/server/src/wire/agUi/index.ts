/** AG-UI events. */
export { AgUiRequest, answersIn, contentOf, resultsIn } from "./agUiRequest.ts"
export type { AgUiInput } from "./agUiRequest.ts"
export { AgUiStream, agUiMessages, interruptIds, stepCount } from "./agUiStream.ts"
export type { AgUiEvent } from "./agUiStream.ts"
