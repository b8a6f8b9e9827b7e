/** OpenAI chat completions. */
export { ofEnd, ofFailure, ofRefusal, responseOf, unexpected } from "./openAiError.ts"
export type { OpenAiError } from "./openAiError.ts"
export { OpenAiReply, finishReasonOf, usageOf } from "./openAiReply.ts"
export { OpenAiRequest, messageOf, optionsOf, toolsOf } from "./openAiRequest.ts"
