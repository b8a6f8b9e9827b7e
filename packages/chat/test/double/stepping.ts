/** Starts a step's or a chat's chart in a system of the test's own. */
import { Process, StateMachine, type System } from "@troupe/otp"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { ChatEnv } from "../../src/loop/chatEnv.ts"
import { chatMachine, stepMachine } from "../../src/machines.ts"
import { chatStart } from "../../src/loop/chatStart.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { SaveRecord } from "../../src/store/commitChain.ts"
import type { ChatInput, ChatOutput } from "../../src/loop/chatContext.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import { type Held, original } from "../../src/values/held.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { SnapshotFrom } from "xstate"
import { hi } from "./scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Turn } from "../../src/inbox/turnData.ts"

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

/** The environment of a step, and its input. */
export const stepStart = (parts: Parts, outlet: Outlet) => {
  const { engine, options } = engineParts(parts)
  const env = new ChatEnv({ engine, turn: () => ({ messages: [], options, outlet }) })
  return { env, input: { id: "s", thread: { messages: hi } } }
}

/** A step whose events are read off its outlet. */
export const startStep = (system: System.System, parts: Parts) => {
  const outlet = new Outlet()
  const pid = StateMachine.start(system, stepMachine, { ...stepStart(parts, outlet), label: "Step" })
  return {
    pid,
    outlet,
    output: () => outputOf(StateMachine.output(pid)),
    value: () => phaseOf(StateMachine.snapshot(pid))
  }
}

/** The phase of a step, or its final state. */
export const phaseOf = ({ value }: SnapshotFrom<typeof stepMachine>): string =>
  typeof value === "string" ? value : JSON.stringify(value.running).replaceAll('"', "")

/** The output of a step, with the values that it holds. */
export const outputOf = (output: ChatOutput | undefined) => {
  if (output === undefined || output.type === "left") return undefined
  if (output.type === "refused") return { ...output, error: original(output.error) }
  return output.type === "completed" ? undefined : { ...output, result: original(output.result) }
}

/** A turn with an outlet of its own. */
export const turnOf = (parts: Parts, messages: ReadonlyArray<Message> = [], more: Partial<Turn> = {}): Turn => ({
  messages,
  options: engineParts(parts).options,
  outlet: new Outlet(),
  ...more
})

const unheld = <A>(data: Held<A> | undefined): A | undefined => (data === undefined ? undefined : original(data))

/** What a chat's chart starts with in a test: a record, a thread or a turn of its own. */
interface Start extends Partial<Pick<ChatInput, "thread" | "suspendedTtlMs">> {
  readonly record?: Conversation
  readonly turn?: Turn
  readonly commit?: SaveRecord
}

/** A living chat's chart, and a function that sends a turn to it. */
export const startChat = (system: System.System, parts: Parts, start: Start = {}) => {
  const { record, thread, turn, commit, suspendedTtlMs } = start
  const { engine } = engineParts(parts)
  const { clock } = system
  const env = new ChatEnv({ engine, clock, commit })
  const begun = chatStart({ id: "c", engine, clock, record, suspendedTtlMs, stores: commit !== undefined })
  const input = { ...begun, thread, turn: turn === undefined ? undefined : env.add(turn) }
  const pid = StateMachine.start(system, chatMachine, { input, env, label: "Chat" })
  const send = (one: Turn) => Process.send(pid, env.start(one))
  const snapshot = () => StateMachine.snapshot(pid)
  const result = () => unheld(snapshot().context.result)
  const output = () => {
    const end = StateMachine.output(pid)
    if (end?.type === "completed") return { type: end.type, result: original(end.result) }
    return end?.type === "refused" ? { type: end.type, error: original(end.error) } : end
  }
  return { pid, env, send, snapshot, result, output }
}
