/** Typed errors, findings, and the types of options. */
export {
  AdapterError,
  EngineError,
  SessionError,
  StreamError,
  ToolError,
  ValidationError,
  isPreflightError
} from "./ChatError.ts"
export type {
  AdapterErrorReason,
  Finding,
  PreflightError,
  SessionErrorReason,
  StreamErrorReason,
  ToolErrorReason,
  ValidationErrorReason
} from "./ChatError.ts"
export { closestName } from "./closestName.ts"
export { formatStatus } from "./shownStatus.ts"
export { againAfter, isConflict, isFenced, isStoreRefusal, refused, storeFailure } from "./storeErrors.ts"
export type { Refusal } from "./storeErrors.ts"
export { nameAdvice, nameProblem, repeatedIndex, repeatedName } from "./toolName.ts"
export { beginningOf, quoted, shortened, withoutStack } from "./truncate.ts"
export { unknownName, unknownNames, unknownOption } from "./unknownKeys.ts"
export {
  countFrom1,
  described,
  dictionary,
  either,
  findingsFor,
  flag,
  functionOf,
  functionType,
  having,
  isMilliseconds,
  milliseconds,
  numeric,
  partsOf,
  positiveInteger,
  text,
  wholeNumber,
  wordOf,
  boundEnvironment,
  isObject,
  isRecord
} from "./valueChecks.ts"
export { findingsOf } from "./zodFindings.ts"
