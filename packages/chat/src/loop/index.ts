/** The chat statechart: steps until a stop condition, suspension, interruption and lifecycle hooks. */
export { ChatEnv, lifecycleEvents } from "./chatEnv.ts"
export type { ModeAsk } from "./chatEnv.ts"
export type { ChatContext } from "./chatContext.ts"
export { chatMachine } from "./ChatMachine.ts"
export { chatStart, started, streamTurn, threadOf } from "./chatStart.ts"
export type { TurnToRun } from "./chatStart.ts"
export { cutOffBy, recalledBy } from "./interruption.ts"
export { notifyStopped } from "./runLifecycleHooks.ts"
