/** The actor that runs the calls of a batch, for the batch's chart. */
import { type Pid, StateMachine } from "@troupe/otp"
import { boundEnvironment } from "../errors/index.ts"
import { original } from "../values/index.ts"
import type { BatchEnv } from "./batchContract.ts"
import type { BatchEvent, CallsCommand, CallsEvent } from "./batchEvents.ts"
import { RunningCalls } from "./runningCalls.ts"

export const calls = StateMachine.fromCallback<undefined, BatchEnv, CallsCommand, CallsEvent>(
  ({ env, send, turn, host }) => {
    const running = new RunningCalls(boundEnvironment(env).batch(), {
      pid: host as Pid<BatchEvent> | undefined,
      send,
      turn
    })
    env.runs(running, running.scope)
    send({ type: "calls.ready" })
    return {
      receive: (command) => {
        switch (command.type) {
          case "begin":
            return running.begin(command)
          case "batch.cancel":
            return running.cancelAll()
          case "calls.cancel":
            return running.cancelCalls(command)
          case "calls.restart":
            return running.restartCalls(command)
          case "call.ended":
            return running.ended(command.index, command.end)
          case "call.died":
            return running.died(command.index, original(command.reason))
        }
      },
      close: () => running.leave()
    }
  }
)
