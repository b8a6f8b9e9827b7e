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
import { stepEnv } from "../../src/step/stepEnv.ts"
import type { StepOutput } from "../../src/step/stepEvents.ts"
import { stepMachine } from "../../src/step/StepMachine.ts"
import { original } from "../../src/values/held.ts"
import type { SnapshotFrom } from "xstate"
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
  const env = stepEnv(() => ({ ...engineParts(parts), outlet }))
  const pid = StateMachine.start(system, stepMachine, { input: { thread: { messages: hi } }, env, label: "Step" })
  return {
    pid,
    outlet,
    output: () => outputOf(StateMachine.output(pid)),
    value: () => phaseOf(StateMachine.snapshot(pid))
  }
}

/** The phase of a step, or its final state. */
export const phaseOf = ({ value }: SnapshotFrom<typeof stepMachine>): string =>
  typeof value === "string" ? value : (Object.keys(value)[0] ?? "")

/** The output of a step, with the values that it holds. */
export const outputOf = (output: StepOutput | undefined) => {
  if (output === undefined) return undefined
  if (output.type === "refused") return { ...output, error: original(output.error) }
  return { ...output, result: original(output.result) }
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
