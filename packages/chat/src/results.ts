/**
 * The outcomes of tool calls, and the values that handlers return.
 *
 * @module
 */
export { Outcome } from "./model/Outcome.ts"
export { HandlerResult, isBranded, isHandlerResult } from "./values/HandlerResult.ts"
