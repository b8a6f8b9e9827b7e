/**
 * Chats over HTTP.
 *
 * @module
 */
export type * as ChatLink from "./ChatLink.ts"
<<<<<<< HEAD
export { HttpError } from "./HttpError.ts"
=======
export * as Local from "./Local.ts"
>>>>>>> af5f112 (Give a page the chats of its own program: a local link, and the hooks over it)
export * as Server from "./Server.ts"
