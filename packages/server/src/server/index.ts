/** The server: its options and its fetch handler. */
export type { Server } from "./Server.ts"
