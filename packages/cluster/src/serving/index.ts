/** How the servers of a node answer: here, or at the home of the conversation. */
export { makeNodeServer } from "./nodeServer.ts"
