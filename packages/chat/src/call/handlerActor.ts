/** The actor that runs the handler of a tool call, with its deadlines. */
import { Clock, ExitReason, type Pid, Process, StateMachine } from "@troupe/otp"
import * as HandlerResults from "../values/HandlerResult.ts"
import { held } from "../values/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { Deadlines, type Limits, limitsOf } from "./deadlines.ts"
import type { ModeWish } from "../gate/index.ts"
import type { CallEnv } from "./callEnv.ts"
import { type ExecutionListener, ToolExecution } from "./handlerRun.ts"
import type { Zombie } from "./zombieTable.ts"
import type { ToolCallEvent } from "./callEvents.ts"

type HandlerCommand =
  | { readonly type: "abort" }
  | { readonly type: "disown" }
  | { readonly type: "give.up"; readonly outcome: Zombie["outcome"] }

type Sent = Extract<ToolCallEvent, { readonly type: "handler.settled" | "deadline.passed" }>

/**
 * Runs the handler of the call at a place, and sends `handler.settled` or `deadline.passed`. `abort` and `disown` end the
 * handler and wait for it; `give.up` and a stop of the actor end it without waiting. The deadlines are timers on the
 * system's clock, because progress defers one of them.
 */
export const handler = StateMachine.fromCallback<number, CallEnv, HandlerCommand, Sent>(
  ({ input: index, env, send, host: pid }) => {
    const host = pid as Pid | undefined
    const call = env.call(index)
    const system = host === undefined ? call.options.system : Process.systemOf(host)
    const settled: ExecutionListener["settled"] = (result, byHandler, refused, interrupted) =>
      send({
        type: "handler.settled",
        result: held(result),
        failed: result.type === "error",
        byHandler,
        began: running.began,
        missed: deadlines.missed,
        refused,
        interrupted
      })
    if (call.mayStart?.() === false) {
      const result = held<HandlerResults.HandlerResult>(HandlerResults.error("the batch was cancelled"))
      return send({ type: "handler.settled", result, failed: true, byHandler: false, began: false, interrupted: true })
    }
    let limits: Limits
    try {
      limits = limitsOf(call)
    } catch (fault) {
      const result = held<HandlerResults.HandlerResult>(HandlerResults.error(fault))
      return send({ type: "handler.settled", result, failed: true, byHandler: false, began: false })
    }
    const deadlines = new Deadlines(system?.clock ?? Clock.live, limits, (missed) =>
      send({ type: "deadline.passed", missed, began: running.began })
    )
    const progressed = (value: unknown) => {
      deadlines.touch()
      call.watcher?.progressed(value)
    }
    const { wants, wished } = call.watcher ?? {}
    const asking: ExecutionListener["wants"] = (mode, signal) => {
      const wish = wants?.(mode, signal) ?? { mode, agreed: false }
      return isPromiseLike<ModeWish>(wish) ? deadlines.holding(wish) : wish
    }
    if (host !== undefined) call.watcher?.started?.(host as Pid<ToolCallEvent>)
    const running = new ToolExecution(call, { settled, progressed, wants: asking, wished }, system, env.scope)
    // A handler that was cancelled before its call was restored has no result: the call waits until its drain deadline.
    let hasResult = call.restored === undefined
    const run = () => {
      hasResult = true
      running.start()
    }
    if (call.restored === undefined) run()
    else call.restored(run)
    return {
      receive: (command) => {
        if (command.type === "abort") return hasResult ? running.abort() : undefined
        deadlines.clear()
        if (command.type === "disown") running.disown()
        else running.stop(command.outcome)
      },
      close: () => {
        deadlines.clear()
        running.stop(endedBy(host))
      }
    }
  }
)

/** The outcome of a call whose process ends first: `failed` for an abnormal exit or no exit reason, else `cancelled`. */
const endedBy = (host: Pid | undefined): "failed" | "cancelled" => {
  const reason: unknown = host === undefined ? undefined : Process.exitReason(host)
  return reason === undefined || ExitReason.isAbnormal(reason) ? "failed" : "cancelled"
}
