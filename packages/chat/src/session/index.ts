/** A conversation as a serializable value, and the functions that continue it. */
export { Session } from "./sessionState.ts"
export type { ResultOf, SessionMode } from "./turnResult.ts"
export type { SessionStream } from "./sessionStream.ts"
