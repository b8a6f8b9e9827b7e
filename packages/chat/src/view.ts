/**
 * What a user interface reads of a chat, as plain data. A page loads nothing else with it.
 *
 * @module
 */
export * as ChatView from "./view/ChatView.ts"
