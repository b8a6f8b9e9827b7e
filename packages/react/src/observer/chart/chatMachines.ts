/** The machines of `@troupe/chat` by their ids. */
import { adapterStreamMachine } from "@troupe/chat/machines"
import { chatMachine, stepMachine } from "@troupe/chat/machines"
import { toolCallMachine } from "@troupe/chat/machines"
import type { AnyStateMachine } from "xstate"

export const chatMachines: ReadonlyMap<string, AnyStateMachine> = new Map<string, AnyStateMachine>(
  [chatMachine, stepMachine, adapterStreamMachine, toolCallMachine].map((machine) => [machine.id, machine])
)
