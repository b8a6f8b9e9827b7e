/** The machines of `@troupe/chat` by their ids. */
import { adapterStreamMachine } from "@troupe/chat/AdapterStreamMachine"
import { chatMachine } from "@troupe/chat/ChatMachine"
import { resumedStepMachine, stepMachine } from "@troupe/chat/StepMachine"
import { toolCallMachine } from "@troupe/chat/ToolCallMachine"
import type { AnyStateMachine } from "xstate"

export const chatMachines: ReadonlyMap<string, AnyStateMachine> = new Map<string, AnyStateMachine>(
  [chatMachine, stepMachine, resumedStepMachine, adapterStreamMachine, toolCallMachine].map((machine) => [
    machine.id,
    machine
  ])
)
