/**
 * The view of a chat for user interfaces, as plain data. Loads no other module of the library in a page.
 *
 * @module
 */
export * as ChatView from "./view/ChatView.ts"
