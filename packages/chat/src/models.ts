/**
 * Adapters: requests, responses, retries, fallbacks and structured output.
 *
 * @module
 */
export * as Adapter from "./adapter/Adapter.ts"
export type { Fallback } from "./adapter/Fallback.ts"
export * as Retry from "./adapter/Retry.ts"
export { Request } from "./model/Request.ts"
export { Response } from "./model/Response.ts"
export * as StructuredOutput from "./request/StructuredOutput.ts"
