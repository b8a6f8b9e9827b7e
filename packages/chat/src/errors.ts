/**
 * The typed errors of this package, and the short text of any thrown value.
 *
 * @module
 */
export { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "./errors/ChatError.ts"
export type { Finding } from "./errors/ChatError.ts"
export { describe } from "./toolResult/errorText.ts"
