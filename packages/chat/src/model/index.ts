/** The data of model requests: messages, content parts, threads, tool calls, usage, requests and responses. */
export { answered, answeredInOrder, unpaired } from "./callPairing.ts"
export { AssistantMessage, AssistantPart, ContentPart, Message, ToolMessage, UserMessage } from "./messageShapes.ts"
export type { FilePart, ImagePart } from "./messageShapes.ts"
export { parts, system, text, toolResult, user } from "./Message.ts"
export { isPlainMessage, messageFindings, messagesAdvice, messagesFindings } from "./messageFindings.ts"
export { Outcome, ofError } from "./Outcome.ts"
export {
  base64Of,
  blobOf,
  bytesOf,
  defaultMaxFileBytes,
  fileBytesOf,
  fileFinding,
  isMedia,
  mediaTypeOf,
  withoutData
} from "./mediaSource.ts"
export { encodedParts, mediaText, resultParts, resultSize, resultText } from "./resultParts.ts"
export { Request, ResponseFormat, ToolChoice } from "./Request.ts"
export { FinishReason, goesOn, Response } from "./Response.ts"
export { defaultMaxToolArgumentCharacters, reasonOf, storableCall, unstorable } from "./storable.ts"
export { Compaction, Thread } from "./Thread.ts"
export type { ThreadInput } from "./Thread.ts"
export { ToolCall, parseArguments } from "./ToolCall.ts"
export { Usage, totalTokens } from "./Usage.ts"
