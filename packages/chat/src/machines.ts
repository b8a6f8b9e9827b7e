/**
 * The statecharts, for `createActor` and `useMachine`.
 *
 * @module
 */
export { toolCallMachine } from "./call/ToolCallMachine.ts"
export { chatMachine, turn } from "./loop/ChatMachine.ts"
export { adapterStreamMachine } from "./request/AdapterStreamMachine.ts"
export { resumedStepMachine, stepMachine } from "./step/StepMachine.ts"
