/** OpenAI's chat completions and responses. */
export { checkResults } from "./callResults.ts"
export { ofFailure, ofRefusal, ofResult, responseOf, unexpected } from "./openAiError.ts"
export type { OpenAiError } from "./openAiError.ts"
export { eventsOfStep, OpenAiReply, finishReasonOf, usageOf } from "./openAiReply.ts"
export { OpenAiRequest, messageOf, optionsOf, toolsOf } from "./openAiRequest.ts"
export { endedState, failedState, headOf, responseBody } from "./responseBody.ts"
export type { ResponseHead, ResponseState } from "./responseBody.ts"
export { extentOf } from "./responseExtent.ts"
export { idsOf, idsUnder } from "./responseIds.ts"
export type { ResponsePlace } from "./responseIds.ts"
export { ResponseItems } from "./responseItems.ts"
export type { ResponseEvent } from "./outputItems.ts"
export { ResponseNumbers } from "./responseNumbers.ts"
export {
  checkItems,
  knownResponse,
  messagesOf,
  responsesInput,
  resultsIn,
  saidIn,
  splitHistory
} from "./responsesInput.ts"
export type { ResponsesInput } from "./responsesInput.ts"
export {
  checkParameters,
  InputItems,
  ResponsesRequest,
  responsesOptionsOf,
  responsesToolsOf
} from "./responsesRequest.ts"
export { ItemsQuery, noItem, pageOf, threadItems } from "./threadItems.ts"
export type { ThreadItem } from "./threadItems.ts"
