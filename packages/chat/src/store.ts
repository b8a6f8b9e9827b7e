/**
 * Stored conversations: the port, its values and their JSON.
 *
 * @module
 */
export * as Codec from "./codec/Codec.ts"
export { ChatRecord } from "./record/ChatRecord.ts"
export * as Store from "./store/Store.ts"
