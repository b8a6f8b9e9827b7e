/**
 * The typed errors of this package, the findings about options, and the short text of any thrown value.
 *
 * @module
 */
export { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "./errors/ChatError.ts"
export type { Finding } from "./errors/ChatError.ts"
export { findingsFor as optionFindings } from "./errors/valueChecks.ts"
export { describe } from "./values/errorText.ts"
