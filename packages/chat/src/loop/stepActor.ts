/** Runs the steps of a chat as processes below the chat's own, with the live things of its environment. */
import { type Pid, Process, StateMachine } from "@troupe/otp"
import type { EventObject } from "xstate"
import { createActor } from "xstate"
import { held } from "../values/index.ts"
import type { ChatEnv } from "./chatEnv.ts"
import { resumedStepMachine, type StepInput, stepMachine, type StepOutput } from "../step/index.ts"

type StepData = Pick<StepInput, "thread" | "aside" | "open">

const endOf = (output: StepOutput) =>
  output.type === "refused"
    ? { type: "refused", error: held(output.error) }
    : { type: "completed", result: held(output.result), open: output.open }

const running = (machine: typeof stepMachine | typeof resumedStepMachine) =>
  StateMachine.fromCallback<StepData, ChatEnv, { readonly type: "step.cancel" }, EventObject>(
    ({ input: data, env, send, host }) => {
      const input = { ...env.step(), ...data }
      const done = (output: StepOutput | undefined) => {
        if (output === undefined) return
        send(Object.assign({ type: "xstate.done.actor.step" }, { output: endOf(output), actorId: "step" }))
      }
      if (host === undefined) {
        const actor = createActor(machine as typeof stepMachine, { input })
        const failed = (error: unknown) =>
          send(Object.assign({ type: "xstate.error.actor.step" }, { error, actorId: "step" }))
        actor.subscribe({ complete: () => done(actor.getSnapshot().output), error: failed })
        actor.start()
        return { receive: (event) => actor.send(event), close: () => actor.stop() }
      }
      const pid = StateMachine.startLink(host as Pid, machine as typeof stepMachine, { input, label: "step" })
      const forget = Process.onExit(pid, () => done(StateMachine.output(pid)))
      return {
        receive: (event) => Process.send(pid, event),
        close: () => {
          forget()
          Process.exit(pid, "shutdown")
        }
      }
    }
  )

export const step = running(stepMachine)
export const resumedStep = running(resumedStepMachine)
