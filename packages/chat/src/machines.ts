/**
 * The statecharts, for `createActor` and `useMachine`.
 *
 * @module
 */
import { StateMachine } from "@troupe/otp"
import { reported, stepChart } from "./loop/ChatMachine.ts"

/** The same machine with the live things that it runs with, for a bare `createActor` or `useMachine`. */
export const bind: typeof StateMachine.bind = StateMachine.bind

export { toolCallMachine } from "./call/ToolCallMachine.ts"
export { chatMachine } from "./loop/ChatMachine.ts"
export { environment, provide } from "./loop/provide.ts"
export { adapterStreamMachine } from "./request/AdapterStreamMachine.ts"

/** The machine of a chat for one step of the thread in its input: it ends after that step. */
export const stepMachine = StateMachine.hosted(stepChart(), reported)
