/** The data of model requests: messages, content parts, threads, tool calls, usage, requests and responses. */
export { answered, unpaired } from "./callPairing.ts"
export { ContentPart } from "./ContentPart.ts"
export {
  AssistantMessage,
  Message,
  ToolMessage,
  UserMessage,
  assistant,
  system,
  text,
  toolResult,
  user
} from "./Message.ts"
export { messageFindings, messagesFindings } from "./messageFindings.ts"
export { Outcome, ofError } from "./Outcome.ts"
export { Request, ResponseFormat, ToolChoice } from "./Request.ts"
export { FinishReason, Response } from "./Response.ts"
export { defaultMaxToolArgumentCharacters, reasonOf, storableCall, unstorable } from "./storable.ts"
export { Thread } from "./Thread.ts"
export type { ThreadInput } from "./Thread.ts"
export { ToolCall, parseArguments } from "./ToolCall.ts"
export { Usage, totalTokens } from "./Usage.ts"
export { userMessage } from "./userMessage.ts"
export type { UserInput } from "./userMessage.ts"
