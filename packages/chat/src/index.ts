/**
 * Chats as supervised processes.
 *
 * `Troupe` runs living chats, `Chat` runs steps and chats on plain values; everything else is what they are made of.
 *
 * @module
 */
export * as Adapter from "./Adapter.ts"
export * as AdapterStreamMachine from "./AdapterStreamMachine.ts"
export * as Chat from "./Chat.ts"
export {
  AdapterError,
  EngineError,
  SessionError,
  StreamError,
  ToolError,
  ValidationError
} from "./ChatError.ts"
export * as ChatError from "./ChatError.ts"
export * as ChatEffect from "./ChatEffect.ts"
export * as ChatMachine from "./ChatMachine.ts"
export * as ChatOptions from "./ChatOptions.ts"
export * as ChatRecord from "./ChatRecord.ts"
export * as ChatRef from "./ChatRef.ts"
export * as ChatResult from "./ChatResult.ts"
export * as ContentPart from "./ContentPart.ts"
export * as Engine from "./Engine.ts"
export * as Event from "./Event.ts"
export * as Fake from "./Fake.ts"
export { askUser, error, halt, ok } from "./HandlerResult.ts"
export * as HandlerResult from "./HandlerResult.ts"
export { assistant, system, toolResult, user } from "./Message.ts"
export * as Message from "./Message.ts"
export * as Request from "./Request.ts"
export * as Response from "./Response.ts"
export * as StepMachine from "./StepMachine.ts"
export * as StepResult from "./StepResult.ts"
export * as Store from "./Store.ts"
export * as StreamCollector from "./StreamCollector.ts"
export * as Thread from "./Thread.ts"
export { tool } from "./Tool.ts"
export * as Tool from "./Tool.ts"
export * as ToolCall from "./ToolCall.ts"
export * as ToolCallMachine from "./ToolCallMachine.ts"
export * as ToolExecutor from "./ToolExecutor.ts"
export * as ToolResultEncoder from "./ToolResultEncoder.ts"
export * as ToolRunner from "./ToolRunner.ts"
export { Troupe } from "./Troupe.ts"
export type { RunningTroupe, TroupeOptions } from "./Troupe.ts"
export * as Usage from "./Usage.ts"
export * as Validate from "./Validate.ts"
