/**
 * Chats over HTTP.
 *
 * @module
 */
export type * as ChatLink from "./ChatLink.ts"
export * as Client from "./Client.ts"
export { ConnectionError } from "./ConnectionError.ts"
export { HttpError } from "./HttpError.ts"
export * as Local from "./Local.ts"
export * as Server from "./Server.ts"
