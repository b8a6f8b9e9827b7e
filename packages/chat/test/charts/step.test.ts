import { AdapterError } from "../../src/errors/ChatError.ts"
import { assistant } from "../../src/model/Message.ts"
import type { Response } from "../../src/model/Response.ts"
import type { OpenStep } from "../../src/record/OpenStep.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import { resumedStepMachine, stepMachine } from "../../src/step/StepMachine.ts"
import { held } from "../../src/values/held.ts"
import { hi } from "../double/scripts.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"

const reply = held<Response>({
  requestId: "r",
  outputText: "hi",
  toolCalls: [],
  finishReason: "stop",
  usage: {},
  metadata: {}
})

const result = held<StepResult>({
  thread: { messages: hi },
  response: { requestId: "r", outputText: "hi", toolCalls: [], finishReason: "stop", usage: {}, metadata: {} },
  toolResults: [],
  done: true,
  mode: "auto",
  halt: undefined,
  manualToolCalls: [],
  truncatedToolCalls: []
})

const walk = (name: string, open?: OpenStep): Walk => ({
  name,
  machine: open === undefined ? stepMachine : resumedStepMachine,
  input: {
    thread: { messages: open === undefined ? hi : [...hi, assistant("", [{ id: "c0", name: "t", arguments: {} }])] },
    open
  },
  events: () => [
    { type: "step.began", id: "s1", count: 1, adapter: "fake" },
    { type: "step.cancel" },
    { type: "reply.read", reply, count: 0, hasUnknownTool: false },
    { type: "reply.read", reply, count: 1, hasUnknownTool: false },
    { type: "reply.read", reply, count: 1, hasUnknownTool: true },
    { type: "step.finished", result, open: undefined },
    { type: "events.taken" },
    { type: "xstate.done.actor.adapterStream", output: { type: "exhausted" }, actorId: "adapterStream" },
    {
      type: "xstate.done.actor.adapterStream",
      output: { type: "refused", error: held(new AdapterError("timeout")) },
      actorId: "adapterStream"
    },
    { type: "xstate.error.actor.adapterStream", error: "dead", actorId: "adapterStream" },
    {
      type: "xstate.done.actor.toolBatch",
      output: held({ outcomes: [], halt: undefined, suspended: [] }),
      actorId: "toolBatch"
    },
    { type: "xstate.error.actor.toolBatch", error: "dead", actorId: "toolBatch" }
  ],
  apart: ({ context }) => [context.ending.type, context.result !== undefined],
  // A step is over when its result is known and read, in this order.
  allows: ({ context, value }, { type }) =>
    type !== "events.taken" || value !== "phaseC" || context.result !== undefined
})

const fresh = [walk("a step")]

const resumed = [
  walk("an open call that may run", {
    at: 1,
    calls: [{ state: "decided", kind: "permission", decision: { type: "allow" } }]
  })
]

testPaths(stepMachine, () => fresh)
testPurity(stepMachine, () => fresh)
testPaths(resumedStepMachine, () => resumed)
testPurity(resumedStepMachine, () => resumed)
