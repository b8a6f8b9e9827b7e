/**
 * The outcomes of tool calls, and the values that handlers return.
 *
 * @module
 */
export * as Outcome from "./model/Outcome.ts"
export * as HandlerResult from "./values/HandlerResult.ts"
