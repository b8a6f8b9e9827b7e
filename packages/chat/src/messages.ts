/**
 * Messages, content parts, threads, tool calls and usage.
 *
 * @module
 */
export { ContentPart } from "./model/messageShapes.ts"
export * as Message from "./model/Message.ts"
export * as Thread from "./model/Thread.ts"
export * as ToolCall from "./model/ToolCall.ts"
export * as Usage from "./model/Usage.ts"
