/**
 * The statecharts, for `createActor` and `useMachine`.
 *
 * @module
 */
import { StateMachine } from "@troupe/otp"

/** The same machine with the live things that it runs with, for a bare `createActor` or `useMachine`. */
export const bind: typeof StateMachine.bind = StateMachine.bind

export { toolCallMachine } from "./call/ToolCallMachine.ts"
export { chatMachine, stepMachine } from "./loop/ChatMachine.ts"
export { environment, provide } from "./loop/provide.ts"
export { adapterStreamMachine } from "./request/AdapterStreamMachine.ts"
