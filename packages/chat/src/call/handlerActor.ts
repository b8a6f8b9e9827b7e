/**
 * The actor that runs the handler of a tool call, with its deadlines.
 *
 * CALL2. The deadlines count from the start of the run, not from the queue. The handler cannot extend them; progress
 *        defers only the idle deadline.
 */
import { Clock, ExitReason, type Pid, Process, StateMachine } from "@troupe/otp"
import * as HandlerResults from "../values/HandlerResult.ts"
import { held } from "../values/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { boundEnvironment } from "../errors/index.ts"
import { type DeadlineListener, Deadlines, type Limits, limitsOf } from "./deadlines.ts"
import type { ModeWish } from "../gate/index.ts"
import type { CallEnv, CallWatcher, RunnableCall } from "./callEnv.ts"
import { type ExecutionListener, ToolExecution } from "./handlerRun.ts"
import type { Zombie } from "./zombieTable.ts"
import type { ToolCallEvent } from "./callEvents.ts"
import type { Returned } from "../tool/index.ts"
import type { Mode } from "../record/index.ts"

type HandlerCommand =
  | { readonly type: "abort" }
  | { readonly type: "disown" }
  | { readonly type: "give.up"; readonly outcome: Zombie["outcome"] }

type Sent = Extract<ToolCallEvent, { readonly type: "handler.settled" | "deadline.passed" }>

/** The scope of the actor. */
type Actor = Parameters<Parameters<typeof StateMachine.fromCallback<number, CallEnv, HandlerCommand, Sent>>[0]>[0]

/** A running handler with its deadlines. */
class RunningHandler implements StateMachine.RunningCallback<HandlerCommand>, ExecutionListener, DeadlineListener {
  readonly #send: Actor["send"]
  readonly #host: Pid | undefined
  readonly #watcher: CallWatcher | undefined
  readonly #deadlines: Deadlines
  readonly #execution: ToolExecution
  #isStarted = false

  constructor({ send, host, env }: Actor, call: RunnableCall, limits: Limits) {
    const pid = host as Pid | undefined
    const system = pid === undefined ? call.options.system : Process.systemOf(pid)
    this.#send = send
    this.#host = pid
    this.#watcher = call.watcher
    this.#deadlines = new Deadlines(system?.clock ?? Clock.live, limits, this)
    this.#execution = new ToolExecution(call, this, system, env.scope)
  }

  /** Runs the handler. That of a restored call runs when the batch is restored, unless the call was cancelled before. */
  start({ restored }: RunnableCall): void {
    if (this.#host !== undefined) this.#watcher?.started?.(this.#host as Pid<ToolCallEvent>)
    if (restored === undefined) this.#run()
    else restored(() => this.#run())
  }

  #run(): void {
    this.#isStarted = true
    this.#execution.start()
  }

  settled(result: Returned, byHandler: boolean, refused: boolean, interrupted: boolean): void {
    this.#send({
      type: "handler.settled",
      result: held(result),
      failed: result.type === "error",
      byHandler,
      began: this.#execution.began,
      missed: this.#deadlines.missed,
      refused,
      interrupted
    })
  }

  passed(missed: string): void {
    this.#send({ type: "deadline.passed", missed, began: this.#execution.began })
  }

  progressed(value: unknown): void {
    this.#deadlines.touch()
    this.#watcher?.progressed(value)
  }

  wants(mode: Mode, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    const wish = this.#watcher?.wants?.(mode, signal) ?? { mode, agreed: false }
    return isPromiseLike<ModeWish>(wish) ? this.#deadlines.holding(wish) : wish
  }

  wished(wish: ModeWish): void {
    this.#watcher?.wished?.(wish)
  }

  receive(command: HandlerCommand): void {
    if (command.type === "abort") {
      // A handler that was cancelled before its call was restored has no result: the call waits for its drain deadline.
      if (this.#isStarted) this.#execution.abort()
      return
    }
    this.#deadlines.clear()
    if (command.type === "disown") this.#execution.disown()
    else this.#execution.stop(command.outcome)
  }

  close(): void {
    this.#deadlines.clear()
    this.#execution.stop(endedBy(this.#host))
  }
}

/** A call that ends before its handler starts. */
const unstarted = (fault: unknown, interrupted?: true): Sent => ({
  type: "handler.settled",
  result: held<Returned>(HandlerResults.error(fault)),
  failed: true,
  byHandler: false,
  began: false,
  ...(interrupted !== undefined && { interrupted })
})

/**
 * Runs the handler of the call at a place, and sends `handler.settled` or `deadline.passed`. `abort` and `disown` end the
 * handler and wait for it; `give.up` and a stop of the actor end it without waiting. The deadlines are timers on the
 * system's clock, because progress defers one of them.
 */
export const handler = StateMachine.fromCallback<number, CallEnv, HandlerCommand, Sent>((actor) => {
  const call = boundEnvironment(actor.env).call(actor.input)
  if (call.mayStart?.() === false) return actor.send(unstarted("the batch was cancelled", true))
  let limits: Limits
  try {
    limits = limitsOf(call)
  } catch (fault) {
    return actor.send(unstarted(fault))
  }
  const running = new RunningHandler(actor, call, limits)
  running.start(call)
  return running
})

/** The outcome of a call whose process ends first: `failed` for an abnormal exit or no exit reason, else `cancelled`. */
const endedBy = (host: Pid | undefined): "failed" | "cancelled" => {
  const reason: unknown = host === undefined ? undefined : Process.exitReason(host)
  return reason === undefined || ExitReason.isAbnormal(reason) ? "failed" : "cancelled"
}
