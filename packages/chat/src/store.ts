/**
 * Stored conversations: the port, its values and their JSON.
 *
 * @module
 */
export * as Codec from "./session/Codec.ts"
export { Conversation } from "./record/Conversation.ts"
export * as Store from "./store/Store.ts"
