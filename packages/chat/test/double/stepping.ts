/** Starts a step's or a chat's chart in a system of the test's own. */
import { StateMachine, type System } from "@troupe/otp"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import type { ChatInput } from "../../src/loop/chatContext.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import { stepMachine } from "../../src/step/StepMachine.ts"
import { hi } from "./scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Turn } from "../../src/inbox/delivery.ts"

export interface Parts {
  readonly adapter: Adapter
  readonly tools?: ReadonlyArray<Tool>
  readonly options?: ChatOptions
}

/** An engine and its complete options. */
export const engineParts = ({ adapter, tools = [], options = {} }: Parts) => {
  const engine = Engine.make({ adapter, tools })
  return { engine, options: resolveOptions(engine, options) }
}

/** A step whose events are read off its outlet. */
export const startStep = (system: System.System, parts: Parts) => {
  const outlet = new Outlet()
  const input = { ...engineParts(parts), thread: { messages: hi }, outlet }
  const pid = StateMachine.start(system, stepMachine, { input, label: "Step" })
  return { pid, outlet, output: () => StateMachine.output(pid), value: () => StateMachine.snapshot(pid).value }
}

/** A turn with an outlet of its own. */
export const turnOf = (parts: Parts, messages: ReadonlyArray<Message> = [], more: Partial<Turn> = {}): Turn => ({
  messages,
  options: engineParts(parts).options,
  outlet: new Outlet(),
  ...more
})

/** A living chat's chart. */
export const startChat = (system: System.System, parts: Parts, more: Partial<ChatInput> = {}) => {
  const pid = StateMachine.start(system, chatMachine, {
    input: { id: "c", engine: engineParts(parts).engine, ...more },
    label: "Chat"
  })
  return { pid, snapshot: () => StateMachine.snapshot(pid), output: () => StateMachine.output(pid) }
}
