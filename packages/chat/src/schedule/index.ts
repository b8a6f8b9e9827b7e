/** The order in which the tool calls of one message start: effects, keys, slots, halts, cancels. */
export { accessesOf, type CallAccesses } from "./callAccesses.ts"
export { type CallEnd, type CallOwner, type CallPhase, defaultLimit, Scheduler } from "./Scheduler.ts"
