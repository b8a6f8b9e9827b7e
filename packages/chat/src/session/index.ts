/** A conversation as a serializable value, and the functions that continue it. */
export type { ResultOf, SessionMode } from "./sessionOutcome.ts"
export type { Session } from "./sessionState.ts"
export type { SessionStream } from "./sessionStream.ts"
