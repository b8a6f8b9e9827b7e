import { error, ok } from "../../src/HandlerResult.ts"
import { toolCallMachine } from "../../src/ToolCallMachine.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"
import type { Walk } from "./paths.ts"
import { testPaths } from "./walking.ts"

const check = leakCheck()

const walk = (startAtOnce: boolean): Walk => ({
  name: startAtOnce ? "a call that starts at once" : "a call that waits for its slot",
  machine: toolCallMachine,
  input: {
    tool: handling("t", () => ok(1)),
    toolCall: { id: "c0", name: "t", arguments: {} },
    startAtOnce,
    options: engineParts({ adapter: check.fake({ script: [] }) }).options
  },
  events: () => [
    { type: "call.start" },
    { type: "call.cancel" },
    { type: "execution.settled", result: ok(1) },
    { type: "execution.settled", result: error("no") },
    { type: "deadline.passed" },
    { type: "xstate.after.drain.toolCall.cancelling" }
  ],
  apart: () => undefined
})

testPaths(toolCallMachine, () => [walk(false), walk(true)])
