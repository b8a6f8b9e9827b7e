/** The chat statechart: steps until a stop condition, suspension, interruption and lifecycle hooks. */
export { ChatEnv } from "./chatEnv.ts"
export type { ModeAsk } from "./chatEnv.ts"
export type { ChatContext } from "./chatContext.ts"
export { chatMachine } from "./ChatMachine.ts"
export { chatStart } from "./chatStart.ts"
export { hasExpired as isExpired } from "./suspensionExpiry.ts"
export { cutOffBy, recalledBy } from "./interruption.ts"
export { notifyStopped } from "./runLifecycleHooks.ts"
