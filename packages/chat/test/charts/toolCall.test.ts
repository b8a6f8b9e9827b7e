import { error, ok } from "../../src/values/HandlerResult.ts"
import { toolCallMachine } from "../../src/call/ToolCallMachine.ts"
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
    { type: "call.restart" },
    { type: "execution.settled", result: ok(1), byHandler: true },
    { type: "execution.settled", result: error("no"), byHandler: true },
    { type: "execution.settled", result: ok(1), byHandler: true, began: true, missed: "no result within 5 ms" },
    { type: "deadline.passed", missed: "no result within 5 ms", began: true },
    { type: "xstate.after.drain.toolCall.cancelling" },
    { type: "xstate.after.drain.toolCall.restarting" }
  ],
  apart: ({ context }) => [context.disowned]
})

testPaths(toolCallMachine, () => [walk(false), walk(true)])
