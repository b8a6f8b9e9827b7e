/** The actor that runs the calls of a message, for the chart that has them. */
import { type Pid, StateMachine } from "@troupe/otp"
import { boundEnvironment } from "../errors/index.ts"
import type { BatchEnv } from "./batchContract.ts"
import type { CallsCommand, CallsEvent } from "./batchEvents.ts"
import { RunningCalls } from "./runningCalls.ts"

export const calls = StateMachine.fromCallback<undefined, BatchEnv, CallsCommand, CallsEvent>(
  ({ env, send, turn, host }) => {
    const running = new RunningCalls(boundEnvironment(env).batch(), { pid: host as Pid | undefined, send, turn })
    env.runs(running, running.scope)
    send({ type: "calls.ready" })
    return {
      receive: (command) => {
        switch (command.type) {
          case "begin":
            return running.begin(command)
          case "calls.cancel":
            return running.cancelAll()
          case "call.ended":
            return running.ended(command.index, command.end)
        }
      },
      close: () => running.leave()
    }
  }
)
