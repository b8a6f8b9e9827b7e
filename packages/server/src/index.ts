/**
 * Chats over HTTP.
 *
 * @module
 */
export * as AgUi from "./wire/agUi/AgUi.ts"
export * as ChatLink from "./link/ChatLink.ts"
export * as Client from "./client/Client.ts"
export { ConnectionError } from "./errors/ConnectionError.ts"
export { HttpError } from "./errors/HttpError.ts"
export * as Local from "./link/Local.ts"
export * as Server from "./server/Server.ts"
export { singleton } from "./server/singleton.ts"
export * as UiWriter from "./wire/aiSdk/UiWriter.ts"
