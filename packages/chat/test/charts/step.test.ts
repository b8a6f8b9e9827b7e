import { held } from "../../src/values/held.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { assistant } from "../../src/model/Message.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resumedStepMachine, stepMachine } from "../../src/step/StepMachine.ts"
import type { StreamCollector } from "../../src/events/StreamCollector.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, hi } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"
import type { Walk } from "./paths.ts"
import { testPaths } from "./walking.ts"
import type { OpenStep } from "../../src/record/OpenStep.ts"

const check = leakCheck()

const called = (name: string): ReadonlyArray<AdapterEvent> => [
  { type: "tool_call_completed", id: "c0", name, arguments: {}, rawArguments: "{}" },
  { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" }
]

const said: ReadonlyArray<AdapterEvent> = [
  { type: "message_completed", message: { role: "assistant", content: "hi" }, finishReason: "stop" }
]

/** The model's reply is folded before the walk begins: which way the chart goes depends on what it was. */
const walk = (name: string, reply: ReadonlyArray<AdapterEvent>, open?: OpenStep): Walk => ({
  name,
  machine: open === undefined ? stepMachine : resumedStepMachine,
  input: {
    ...engineParts({ adapter: check.fake({ script: [] }), tools: [handling("t", () => ok(1))] }),
    thread: { messages: open === undefined ? hi : [...hi, assistant("", [{ id: "c0", name: "t", arguments: {} }])] },
    open,
    outlet: new Outlet(),
    watcher: {
      stepStarted: (collector: StreamCollector) => reply.forEach((event) => collector.apply(event)),
      toolCallsChanged: () => {}
    }
  },
  events: () => [
    { type: "step.cancel" },
    { type: "events.taken" },
    { type: "xstate.done.actor.adapterStream", output: { type: "exhausted" }, actorId: "adapterStream" },
    {
      type: "xstate.done.actor.adapterStream",
      output: { type: "refused", error: held(new AdapterError("timeout")) },
      actorId: "adapterStream"
    },
    { type: "xstate.error.actor.adapterStream", error: new Error("dead"), actorId: "adapterStream" },
    {
      type: "xstate.done.actor.toolBatch",
      output: held({ outcomes: [], halt: undefined, suspended: [] }),
      actorId: "toolBatch"
    },
    { type: "xstate.error.actor.toolBatch", error: new Error("dead"), actorId: "toolBatch" }
  ],
  apart: ({ context }) => context.halt !== undefined
})

testPaths(stepMachine, () => [
  walk("a reply with a call", called("t")),
  walk("a reply with a call of no tool", called("ghost")),
  walk("a final answer", said)
])

testPaths(resumedStepMachine, () => [
  walk("an open call that may run", [], {
    at: 1,
    calls: [{ state: "decided", kind: "permission", decision: { type: "allow" } }]
  })
])
