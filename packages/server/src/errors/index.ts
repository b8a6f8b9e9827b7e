/** Errors as HTTP answers, and errors of connections. */
export { asError } from "./asError.ts"
export { ConnectionError } from "./ConnectionError.ts"
export { HttpError, bodyOf } from "./HttpError.ts"
export { fitting } from "./issues.ts"
export { beginningOf, quoted } from "./quotedText.ts"
export { type ErrorCode, isErrorCode, statusOf } from "./statuses.ts"
export type { DecidedCall, ErrorBody } from "./HttpError.ts"
