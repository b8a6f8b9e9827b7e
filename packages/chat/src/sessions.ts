/**
 * Conversations as serializable values.
 *
 * @module
 */
export * as Session from "./session/Session.ts"
