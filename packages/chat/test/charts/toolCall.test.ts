import { StateMachine } from "@troupe/otp"
import { error, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { held } from "../../src/values/held.ts"
import { toolCallMachine } from "../../src/call/ToolCallMachine.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"

const machine = StateMachine.bind(toolCallMachine, { call: () => ({}) })

const settled = (result: HandlerResult, began = true, missed?: string) => ({
  type: "handler.settled",
  result: held(result),
  failed: result.type === "error",
  byHandler: true,
  began,
  ...(missed === undefined ? {} : { missed })
})

const walk = (startAtOnce: boolean): Walk => ({
  name: startAtOnce ? "a call that starts at once" : "a call that waits for its slot",
  machine,
  input: { drainMs: 1_000, startAtOnce },
  events: () => [
    { type: "call.start" },
    { type: "call.cancel" },
    { type: "call.restart" },
    settled(ok(1)),
    settled(error("no")),
    settled(ok(1), true, "no result within 5 ms"),
    { ...settled(error("stopped")), interrupted: true },
    { type: "deadline.passed", missed: "no result within 5 ms", began: true },
    { type: "xstate.after.drain.toolCall.cancelling" },
    { type: "xstate.after.drain.toolCall.restarting" }
  ],
  apart: ({ context }) => [context.disowned]
})

testPaths(machine, () => [walk(false), walk(true)])
testPurity(toolCallMachine, () => [walk(false), walk(true)])
