/** The chats of the playground, and their server. */
export { conversations, servePlayground } from "./playground.ts"
