/** Values that leave the program: handler results, tagged and canonical JSON, and errors as data. */
export { canonicalJson } from "./canonicalJson.ts"
export { HandlerResult, QuestionOptions, isHandlerResult, ok, reservedHaltReasons } from "./HandlerResult.ts"
export { anything, openRecord } from "./openSchema.ts"
export { read, write } from "./taggedJson.ts"
export type { Json, Tag } from "./taggedJson.ts"
