/** A queue between one producer and its readers. */
export { Channel } from "./Channel.ts"
