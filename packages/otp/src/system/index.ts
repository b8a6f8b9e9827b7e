/** A running system of processes: its start and its shutdown. */
export { make, stop } from "./System.ts"
export { endRoot, halt } from "./systemShutdown.ts"
