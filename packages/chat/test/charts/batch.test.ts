import { batchMachine } from "../../src/batch/BatchMachine.ts"
import type { ToolBatchResult } from "../../src/batch/batchContract.ts"
import { endedEarly, type ToolOutcome } from "../../src/call/toolOutcome.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { held } from "../../src/values/held.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"

const outcome: ToolOutcome = endedEarly({ id: "c0", name: "t", arguments: {} }, "cancelled", {
  toolResultEncoder: json
})

const result: ToolBatchResult = { outcomes: [outcome], halt: undefined, suspended: [] }

/** The events that are sent to a call, which must have been started. */
const toCall: ReadonlySet<string> = new Set(["call.cancel", "call.restart"])

const walk: Walk = {
  name: "two calls",
  machine: batchMachine,
  input: { count: 2 },
  events: () => [
    { type: "calls.ready" },
    { type: "calls.judged" },
    { type: "call.begin", index: 0, drainMs: 5, startAtOnce: true, name: "t" },
    { type: "call.cancel", index: 0 },
    { type: "call.restart", index: 0 },
    { type: "calls.cancel" },
    { type: "calls.restart" },
    { type: "batch.cancel" },
    { type: "call.follows", index: 0, outcome: held(outcome) },
    { type: "call.over", index: 0, outcome: held(outcome), halts: false },
    { type: "call.asks", index: 0, child: { chat: "c", asks: [], counted: {} } },
    { type: "calls.draining", cancelled: false },
    { type: "calls.draining", cancelled: true },
    { type: "calls.exhausted", result: held(result) },
    {
      type: "xstate.done.actor.call:0",
      output: { type: "returned", result: held(ok(1)), byHandler: true, began: true },
      actorId: "call:0"
    },
    { type: "xstate.error.actor.call:0", error: "dead", actorId: "call:0" }
  ],
  apart: ({ context }) => [context.calls, context.cancelled],
  allows: ({ children }, { type }) => !toCall.has(type) || children["call:0"] !== undefined
}

testPaths(batchMachine, () => [walk])
testPurity(batchMachine, () => [walk])
