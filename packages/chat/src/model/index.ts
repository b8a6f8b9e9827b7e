/** The data of model requests: messages, content parts, threads, tool calls, usage, requests and responses. */
export { parts, system, text, toolResult, user } from "./Message.ts"
export { Outcome, ofError } from "./Outcome.ts"
export { Request, ResponseFormat, ToolChoice } from "./Request.ts"
export { FinishReason, goesOn, Response } from "./Response.ts"
export { Compaction, Thread } from "./Thread.ts"
export type { ThreadInput } from "./Thread.ts"
export { ToolCall, parseArguments } from "./ToolCall.ts"
export { Usage, totalTokens } from "./Usage.ts"
export { ChatBlobs } from "./chatBlobs.ts"
export { bytesOf, defaultMaxFileBytes, fileBytesOf, fileFinding, isMedia, withoutData } from "./mediaSource.ts"
export {
  answered,
  answeredInOrder,
  unpaired,
  isPlainMessage,
  messageFindings,
  messagesAdvice,
  messagesFindings,
  defaultMaxToolArgumentCharacters,
  reasonOf,
  storableCall,
  unstorable
} from "./messageFindings.ts"
export { AssistantMessage, AssistantPart, ContentPart, Message, ToolMessage, UserMessage } from "./messageShapes.ts"
export { asSent } from "./references.ts"
export { encodedParts, mediaText, resultParts, resultSize, resultText } from "./resultParts.ts"
