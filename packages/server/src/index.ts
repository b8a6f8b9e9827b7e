/**
 * Chats over HTTP.
 *
 * @module
 */
export type * as ChatLink from "./ChatLink.ts"
export { HttpError } from "./HttpError.ts"
export * as Local from "./Local.ts"
export * as Server from "./Server.ts"
