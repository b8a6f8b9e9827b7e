/** Errors as HTTP answers, and errors of connections. */
export { asError } from "./asError.ts"
export { ConnectionError } from "./ConnectionError.ts"
export { HttpError, bodyOf } from "./HttpError.ts"
export { fitting } from "./issues.ts"
export { beginningOf, quoted } from "./quotedText.ts"
export type { DecidedCall, ErrorBody, ErrorCode } from "./HttpError.ts"
