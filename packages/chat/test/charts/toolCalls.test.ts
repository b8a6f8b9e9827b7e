import { toolCallsMachine } from "../../src/loop/ChatMachine.ts"
import { endedEarly } from "../../src/call/toolOutcome.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { held } from "../../src/values/held.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"

const outcome = endedEarly({ id: "c0", name: "t", arguments: {} }, "cancelled", { toolResultEncoder: json })

/** A call is started once, and what is sent to it needs its actor. */
const walk: Walk = {
  name: "a call",
  machine: toolCallsMachine,
  input: { id: "" },
  events: () => [
    { type: "calls.ready" },
    { type: "call.begin", index: 0, drainMs: 5, startAtOnce: true, name: "t" },
    { type: "call.command", index: 0, command: "call.cancel", state: { cancelled: true } },
    { type: "call.command", index: 0, command: "call.restart" },
    { type: "call.changed", index: 0, state: { following: held(outcome) } },
    { type: "call.changed", index: 0, state: { outcome: held(outcome), halted: 1 } },
    { type: "turn.cancel" },
    { type: "turn.deadline" },
    { type: "calls.exhausted", result: held({ outcomes: [outcome], halt: undefined, suspended: [] }) },
    { type: "xstate.done.actor.call.0", output: { type: "cancelled", began: true }, actorId: "call.0" },
    { type: "xstate.error.actor.call.0", error: "dead", actorId: "call.0" }
  ],
  apart: ({ context, children }) => [context.step, context.stopped, Object.keys(children)],
  allows: ({ children }, { type }) =>
    type === "call.changed" || !type.includes("call.") || (type === "call.begin") !== "call.0" in children
}

testPaths(toolCallsMachine, () => [walk])
testPurity(toolCallsMachine, () => [walk])
