/** The chat statechart: steps until a stop condition, suspension, interruption and lifecycle hooks. */
export type { ChatContext, ModeSet } from "./chatContext.ts"
export { chatMachine } from "./ChatMachine.ts"
export { cutOffBy, recalledBy } from "./interruption.ts"
export { withAnswer } from "./questionAnswer.ts"
export type { AnswerForm } from "./questionAnswer.ts"
export { notifyStopped } from "./runLifecycleHooks.ts"
