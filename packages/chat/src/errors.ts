/**
 * The typed errors of this package.
 *
 * @module
 */
export { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "./errors/ChatError.ts"
export type { Finding } from "./errors/ChatError.ts"
