/**
 * One running handler, in an Effect fiber: the actor `handler` of a call's chart.
 *
 * Owns: the fiber, and the handler's abort signal, which is the fiber's interruption. Does not own the timers of the deadlines
 * (`deadlines`), the outcome's text, nor handlers that do not end (`zombieTable`).
 *
 * The fiber checks the arguments and runs the handler: a function that returns a value, a promise or an Effect. Its
 * finalizer aborts the signal, and waits for the promise. The result is read from the handler, not from the exit of the
 * fiber: a result that comes after the interruption, and in time, counts.
 *
 * EXEC1. A run settles at most once, and never after `stop`. `stop` aborts and stops waiting. If the handler still
 *        runs one turn of the event loop later, it is listed as a zombie until it ends.
 * EXEC2. `abort` interrupts the fiber, and still waits for the handler's result. So does closing the scope of the batch.
 *        When a run is aborted while its arguments are still being checked, it settles at once: the handler never runs.
 *        A handler that interrupts itself has the result `handler_exit`.
 * EXEC4. The handler runs only with arguments that fit its tool's schema.
 * EXEC5. After a run has settled, was stopped or was disowned, it is fenced: calls through the handler's context have no
 *        effect. The run keeps no reference to its chat, because a handler may keep its context indefinitely.
 * EXEC9. `mayAct` is called in the same turn of the event loop as the handler, before it. When it returns false, the handler
 *        never runs, and the run does not settle until it is stopped.
 */
import { Clock, EventLoop, ExitReason, type Pid, Process, StateMachine, System } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { boundEnvironment, quoted, ToolError } from "../errors/index.ts"
import type { CallEnv, RunnableCall } from "./callEnv.ts"
import type { ToolCallEvent } from "./callEvents.ts"
import { type DeadlineListener, Deadlines, type Limits, limitsOf } from "./deadlines.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall, Usage } from "../model/index.ts"
import { ignoreRejection, isPromiseLike, LazyAbortController } from "../async/index.ts"
import { copied, withBigints } from "../json/index.ts"
import { cancelled, type ContextOwner, HandlerContext } from "./handlerContext.ts"
import {
  type Awaitable,
  type CallPlace,
  handlerResultOf,
  isReturned,
  type ParsedArguments,
  type Returned,
  type Tool
} from "../tool/index.ts"
import { checkedMode, type ModeWish } from "../gate/index.ts"
import type { RunOptions } from "../options/index.ts"
import { toolFailure } from "./toolOutcome.ts"
import { type GivenUp, outlives, type Zombie } from "./zombieTable.ts"
import type { Mode } from "../record/index.ts"
import { describe, held } from "../values/index.ts"

/** The commands of the chart: `abort` and `disown` end the handler and wait for it, `give.up` ends it without waiting. */
type HandlerCommand =
  | { readonly type: "abort" }
  | { readonly type: "disown" }
  | { readonly type: "give.up"; readonly outcome: Zombie["outcome"] }

type Sent = Extract<ToolCallEvent, { readonly type: "handler.settled" | "deadline.passed" }>

/** The scope of the actor. */
type Actor = Parameters<Parameters<typeof StateMachine.fromCallback<number, CallEnv, HandlerCommand, Sent>>[0]>[0]

type Resume = (effect: Effect.Effect<unknown, unknown>) => void

const unreported: Pick<GivenUp, "sessionId" | "onLateResult"> = { sessionId: undefined, onLateResult: undefined }

/** The run of one tool call's handler, with its deadlines. */
export class HandlerRun implements StateMachine.RunningCallback<HandlerCommand>, ContextOwner, DeadlineListener {
  readonly place: CallPlace
  readonly aborter: LazyAbortController
  readonly written: ToolCall
  readonly tool: Tool
  readonly asks: RunnableCall["asks"]
  /** The chart, while it waits for the result, and the call; `undefined` afterwards, also while the handler still runs (EXEC5). */
  #owner: { readonly send: Actor["send"]; readonly call: RunnableCall; readonly host: Pid | undefined } | undefined
  readonly #system: System.System | undefined
  readonly #scope: Scope.Scope | undefined
  readonly #deadlines: Deadlines
  /** `undefined` when the run is fenced (EXEC5). */
  options: RunOptions | undefined
  #reported: Pick<GivenUp, "sessionId" | "onLateResult"> = unreported
  #fiber: Fiber.Fiber<unknown, unknown> | undefined
  #isAborted = false
  /** Whether the run settled because its fiber was interrupted from outside. */
  #isInterrupted = false
  /** Whether the present function of the user returned a promise, which no interruption ends. */
  #isPromise = false
  #isStarted = false
  #running = false
  #began = false
  /** The refusals of the modes that the handler requested. */
  #refusals: Set<unknown> | undefined
  #late: ((result: HandlerResult.HandlerResult) => void) | undefined
  readonly counted = (usage: Usage): Usage | undefined => this.#owner?.call.counted?.(usage)

  constructor({ send, host, env }: Pick<Actor, "send" | "host" | "env">, call: RunnableCall, limits: Limits) {
    const { stepId, messageIndex, index, edited, key, options, asks } = call
    const pid = host as Pid | undefined
    const system = pid === undefined ? options.system : Process.systemOf(pid)
    this.written = call.toolCall
    this.tool = call.tool
    this.options = options
    this.asks = asks
    this.place = { stepId, messageIndex, index, edited, key }
    this.#owner = { send, call, host: pid }
    this.#system = system
    this.#scope = env.scope
    this.#deadlines = new Deadlines(system?.clock ?? Clock.live, limits, this)
    this.aborter = new LazyAbortController(system)
  }

  /** Runs the handler. That of a restored call runs when the calls are restored, unless the call was cancelled before. */
  begin(): void {
    const { call, host } = this.#owner ?? {}
    if (host !== undefined) call?.started?.(host as Pid<ToolCallEvent>)
    if (call?.restored === undefined) this.start()
    else call.restored(() => this.start())
  }

  receive(command: HandlerCommand): void {
    if (command.type === "abort") {
      // A handler that was cancelled before its call was restored has no result: the call waits for its drain deadline.
      if (this.#isStarted) this.abort()
      return
    }
    this.#deadlines.clear()
    if (command.type === "disown") this.disown()
    else this.stop(command.outcome)
  }

  close(): void {
    this.#deadlines.clear()
    this.stop(endedBy(this.#owner?.host))
  }

  passed(missed: string): void {
    this.#owner?.send({ type: "deadline.passed", missed, began: this.#began })
  }

  /** Checks a copy of the arguments (EXEC6) and runs the handler; may settle before it returns. */
  start(): void {
    const { arguments: read, rawArguments } = this.written
    this.#isStarted = true
    this.#running = true
    if (read === null) return this.#settle(unreadableArguments(this.written))
    const args = withBigints(read, rawArguments)
    const fiber = (this.#fiber = this.#fork(Effect.callback((resume) => this.#check(copied(args), resume))))
    fiber.addObserver((exit) => this.#exited(exit))
    if (this.#scope !== undefined) Fiber.runIn(fiber, this.#scope)
  }

  #exited(exit: Exit.Exit<unknown, unknown>): void {
    if (Exit.isSuccess(exit)) return
    if (!Cause.hasInterruptsOnly(exit.cause)) return this.#raised(Cause.squash(exit.cause))
    if (this.#isAborted || this.#scope?.state._tag === "Closed") return this.#abandoned()
    this.#settle(toolFailure(this.written, "handler_exit", `${this.written.name} interrupted itself`))
  }

  /** Interrupts the handler and waits for it (EXEC2). */
  abort(): void {
    this.#interrupted()
    this.#fiber?.interruptUnsafe()
  }

  /** The fiber is interrupted, by `abort` or by its scope. */
  #interrupted(): void {
    this.#isAborted = true
    this.aborter.abort()
    if (this.#began) return
    this.#isInterrupted = true
    this.#settle(cancelled(this.written, "the call was cancelled"))
  }

  /** An interrupted Effect has no result; a promise may still have one. */
  #abandoned(): void {
    if (this.#isPromise) return
    this.#isInterrupted = true
    this.#settle(cancelled(this.written, "the call was interrupted"))
  }

  /** Fences the run, aborts the handler and waits for it; the caller discards the result (EXEC5). */
  disown(): void {
    this.#fence()
    this.abort()
  }

  /** Aborts the handler and stops waiting (EXEC1); `outcome` is the outcome of the call. */
  stop(outcome: Zombie["outcome"] = "cancelled"): void {
    const isWaiting = this.#owner !== undefined
    this.#owner = undefined
    this.#fence()
    this.abort()
    const system = this.#system
    if (!isWaiting || !this.#running || system === undefined) return
    const run = { toolCall: this.written, outcome, since: system.clock.now(), ...this.#reported }
    EventLoop.nextTurn(() => {
      if (this.#running) this.#late = outlives(system, run)
    })
  }

  #fence(): void {
    if (this.options === undefined) return
    const { sessionId, onLateResult } = this.options
    this.#reported = { sessionId, onLateResult }
    this.options = undefined
  }

  /** Parses the arguments, which may take a promise, and runs the handler. */
  #check(args: Readonly<Record<string, unknown>>, resume: Resume): Effect.Effect<void> | void {
    let parsed: ParsedArguments | PromiseLike<ParsedArguments>
    try {
      parsed = this.tool.parse(args)
    } catch (thrown) {
      return this.#threw(thrown, resume)
    }
    if (!isPromiseLike<ParsedArguments>(parsed)) return this.#run(parsed, resume)
    return this.#wait(parsed, (value) => Effect.callback((done) => this.#run(value, done)), resume)
  }

  #run(parsed: ParsedArguments, resume: Resume): Effect.Effect<void> | void {
    const options = this.options
    let returned: Awaitable<Returned>
    try {
      if (options === undefined) {
        this.#settle(cancelled(this.written, "the call was cancelled"))
        return resume(Effect.void)
      }
      if (!parsed.valid) {
        this.#settle(invalidArguments(this.written, parsed.issues))
        return resume(Effect.void)
      }
      if (options.mayAct?.() === false) return
      const context = new HandlerContext(options, this)
      this.#began = true
      returned = options.toolExecutor.execute(this.tool, parsed.arguments, context)
    } catch (thrown) {
      return this.#threw(thrown, resume)
    }
    if (isPromiseLike<Returned>(returned) || Effect.isEffect(returned)) {
      return this.#wait(returned, (value) => this.#returned(value), resume)
    }
    resume(this.#returned(returned))
  }

  /** Settles with what the executor returned; reading it may throw. */
  #returned(result: unknown): Effect.Effect<void> {
    try {
      if (isReturned(result)) this.#ended(result, this.tool.handler !== null)
      else {
        const message = `the executor returned ${describe(result)}`
        this.#settle(toolFailure(this.written, "invalid_return", message, result))
      }
    } catch (thrown) {
      this.#raised(thrown)
    }
    return Effect.void
  }

  #threw(thrown: unknown, resume: Resume): void {
    this.#raised(thrown)
    resume(Effect.void)
  }

  /** Passes on progress, unless the run is fenced (EXEC5). */
  progressed(value: unknown): void {
    if (this.options === undefined || this.#owner === undefined) return
    this.#deadlines.touch()
    this.#owner.call.progressed?.(value)
  }

  /** Sets the mode synchronously when no person is asked, because a handler may return without awaiting the promise. */
  setMode(mode: Mode): Promise<void> {
    const requested = this.#requested(mode)
    ignoreRejection(requested)
    return requested
  }

  async #requested(given: Mode): Promise<void> {
    const mode = checkedMode(given)
    let wish: ModeWish | undefined
    try {
      const requested = this.#wish(mode)
      wish = isPromiseLike<ModeWish>(requested) ? await this.#deadlines.holding(requested) : requested
    } catch (refusal) {
      if (refusal instanceof ToolError && refusal.reason === "denied") {
        this.#refusals ??= new Set()
        this.#refusals.add(refusal)
      }
      throw refusal
    }
    if (this.options === undefined)
      throw cancelled(this.written, "the call is over, and sets no permission mode").reason
    if (wish !== undefined) this.#owner?.call.wished?.(wish)
  }

  /** Whether the call may set this mode. */
  #wish(mode: Mode): ModeWish | Promise<ModeWish> | undefined {
    if (this.options === undefined || this.#owner === undefined) return undefined
    const { wants } = this.#owner.call
    return wants === undefined ? { mode, agreed: false } : wants(mode, this.aborter.signal)
  }

  /**
   * Waits for a promise or an Effect of the user, and passes its value on. The value of a promise is passed on even after
   * the fiber was interrupted: the returned finalizer waits for the promise.
   */
  #wait<A>(
    pending: PromiseLike<A> | Effect.Effect<A, unknown>,
    then: (value: A) => Effect.Effect<unknown, unknown>,
    resume: Resume
  ): Effect.Effect<void> | void {
    this.#isPromise = !Effect.isEffect(pending)
    if (Effect.isEffect(pending)) return resume(Effect.flatMap(pending, then))
    const ended = Promise.resolve(pending).then(
      (value) => resume(then(value)),
      (thrown: unknown) => this.#threw(thrown, resume)
    )
    return Effect.callback((released) => {
      this.#interrupted()
      void ended.then(() => released(Effect.void))
    })
  }

  #raised(thrown: unknown): void {
    const message = `${this.written.name} raised: ${describe(thrown)}`
    this.#ended(toolFailure(this.written, "handler_raised", message, thrown), false)
  }

  /** Runs an Effect on the system's clock, within the span of its call, with the system as a service. */
  #fork(effect: Effect.Effect<unknown, unknown>): Fiber.Fiber<unknown, unknown> {
    const trace = this.options?.trace
    const traced = trace === undefined ? effect : trace.within(this.written.id, effect)
    const system = this.#system
    return system === undefined ? Effect.runFork(traced) : System.runFork(system, traced)
  }

  /** Settles with the handler's result, or with the refusal that it ended with. */
  #ended(result: Returned, byHandler: boolean): void {
    const refusal = result.type === "error" && this.#refusals !== undefined ? this.#refusalIn(result) : undefined
    if (refusal === undefined) this.#settle(result, byHandler)
    else this.#settle(HandlerResult.error(refusal), true, true)
  }

  /** The mode refusal that the handler threw or returned as its failure. */
  #refusalIn({ reason }: HandlerResult.Failed): unknown {
    const cause = reason instanceof ToolError && reason.reason === "handler_raised" ? reason.cause : reason
    return this.#refusals?.has(cause) === true ? cause : undefined
  }

  #settle(result: Returned, byHandler = false, refused = false): void {
    if (!this.#running) return
    this.#running = false
    this.options = undefined
    const [owner, late] = [this.#owner, this.#late]
    this.#owner = undefined
    this.#late = undefined
    owner?.send({
      type: "handler.settled",
      result: held(result),
      failed: result.type === "error",
      byHandler,
      began: this.#began,
      missed: this.#deadlines.missed,
      refused,
      interrupted: this.#isInterrupted
    })
    late?.(handlerResultOf(this.written, result))
  }
}

const unreadableArguments = (toolCall: ToolCall): HandlerResult.Failed => {
  const { rawArguments, problem } = toolCall
  const message = problem ?? `the arguments are not a JSON object: ${quoted(rawArguments ?? "")}`
  return toolFailure(toolCall, "invalid_arguments", message)
}

const invalidArguments = (
  toolCall: ToolCall,
  issues: Extract<ParsedArguments, { readonly valid: false }>["issues"]
): HandlerResult.Failed => {
  const texts = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
  return toolFailure(toolCall, "invalid_arguments", texts.join("; "), issues)
}

/** A call that ends before its handler starts. */
const unstarted = (fault: unknown, interrupted?: true): Sent => ({
  type: "handler.settled",
  result: held<Returned>(HandlerResult.error(fault)),
  failed: true,
  byHandler: false,
  began: false,
  ...(interrupted !== undefined && { interrupted })
})

/** Runs the handler of the call at a position, and sends `handler.settled` or `deadline.passed`. */
export const handler = StateMachine.fromCallback<number, CallEnv, HandlerCommand, Sent>((actor) => {
  const call = boundEnvironment(actor.env).call(actor.input)
  if (call.mayStart?.() === false) return actor.send(unstarted("the batch was cancelled", true))
  let limits: Limits
  try {
    limits = limitsOf(call)
  } catch (fault) {
    return actor.send(unstarted(fault))
  }
  const run = new HandlerRun(actor, call, limits)
  run.begin()
  return run
})

/** The outcome of a call whose process ends first: `failed` for an abnormal exit or no exit reason, else `cancelled`. */
const endedBy = (host: Pid | undefined): "failed" | "cancelled" => {
  const reason: unknown = host === undefined ? undefined : Process.exitReason(host)
  return reason === undefined || ExitReason.isAbnormal(reason) ? "failed" : "cancelled"
}
