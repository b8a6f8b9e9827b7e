/** Values that leave the program: handler results, tagged and canonical JSON, errors as data, and values in charts. */
export { canonicalJson } from "./canonicalJson.ts"
export { HandlerResult, QuestionOptions, error, isHandlerResult, ok, reservedHaltReasons } from "./HandlerResult.ts"
export { held, original } from "./held.ts"
export type { Held } from "./held.ts"
export { anything, openRecord } from "./openSchema.ts"
export { read, write } from "./taggedJson.ts"
export type { Json, Tag } from "./taggedJson.ts"
