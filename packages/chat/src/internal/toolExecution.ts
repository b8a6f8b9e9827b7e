/**
 * One running handler.
 *
 * Owns: the handler's abort signal, its fiber if it is an Effect. Does not own the deadline or the outcome's text.
 *
 * EXEC1. `settled` is called at most once, and never after `stop`.
 * EXEC2. `abort` tells the handler to end (its signal, or the interruption of its fiber) and goes on waiting for it.
 * EXEC3. `stop` aborts and stops waiting: whatever the handler does later changes nothing.
 * EXEC4. The handler runs only with arguments that fit its tool's schema.
 */
import { System } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HandlerResult from "../HandlerResult.ts"
import type { ParsedArguments, Tool, ToolContext } from "../Tool.ts"
import type { ToolCall } from "../ToolCall.ts"
import { describe } from "../ToolResultEncoder.ts"
import { isPromiseLike } from "./awaitable.ts"
import { type CallPlace, idempotencyKey } from "./idempotency.ts"
import { LazyAbort } from "./lazyAbort.ts"
import type { RunOptions } from "./resolveOptions.ts"
import { toolFailure } from "./toolOutcome.ts"

/** What a handler is run with. */
export type ExecutionOptions = Pick<
  RunOptions,
  "toolExecutor" | "context" | "sessionId" | "requestId" | "engine" | "trace"
>

/** A call to run. */
export interface ExecutionInput extends CallPlace {
  readonly tool: Tool
  readonly toolCall: ToolCall
  readonly options: ExecutionOptions
}

type Settled = (result: HandlerResult.HandlerResult) => void

/** The run of one tool call's handler. */
export class ToolExecution {
  readonly #tool: Tool
  readonly #toolCall: ToolCall
  readonly #options: ExecutionOptions
  readonly #place: CallPlace
  readonly #system: System.System | undefined
  readonly #abort = new LazyAbort()
  #settled: Settled | undefined
  #fiber: Fiber.Fiber<unknown, unknown> | undefined

  constructor(input: ExecutionInput, settled: Settled, system?: System.System) {
    this.#tool = input.tool
    this.#toolCall = input.toolCall
    this.#options = input.options
    this.#place = input
    this.#system = system
    this.#settled = settled
  }

  /** Checks the arguments and runs the handler; may settle before it returns. */
  start(): void {
    const { arguments: args, rawArguments } = this.#toolCall
    if (args === null) {
      return this.#settle(
        toolFailure(this.#toolCall, "invalid_arguments", `the arguments are not a JSON object: ${rawArguments ?? ""}`)
      )
    }
    this.#whenDone(
      () => this.#tool.parse(args),
      (parsed) => this.#run(parsed)
    )
  }

  /** Tells the handler to end (EXEC2). */
  abort(): void {
    this.#abort.abort()
    this.#fiber?.interruptUnsafe()
  }

  /** Stops waiting (EXEC3). */
  stop(): void {
    this.#settled = undefined
    this.abort()
  }

  #run(parsed: ParsedArguments): void {
    if (!parsed.valid) {
      const issues = parsed.issues
        .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
        .join("; ")
      return this.#settle(toolFailure(this.#toolCall, "invalid_arguments", issues, parsed.issues))
    }
    this.#whenDone(
      () => this.#options.toolExecutor.execute(this.#tool, parsed.arguments, this.#context()),
      (result) =>
        this.#settle(
          HandlerResult.isHandlerResult(result)
            ? result
            : toolFailure(this.#toolCall, "invalid_return", `the executor returned ${describe(result)}`, result)
        )
    )
  }

  #context(): ToolContext {
    const abort = this.#abort
    const { context, sessionId, requestId, engine } = this.#options
    const key = () => idempotencyKey({ sessionId, requestId }, this.#toolCall.id, this.#place)
    return {
      context,
      sessionId,
      requestId,
      toolCall: this.#toolCall,
      engine,
      get signal() {
        return abort.signal
      },
      progress: () => {},
      get idempotencyKey() {
        return key()
      }
    }
  }

  /** Waits for a value, a promise or an Effect; what it throws is a `handler_raised` error. */
  #whenDone<A>(begin: () => A | PromiseLike<A> | Effect.Effect<A, unknown>, then: (value: A) => void): void {
    if (this.#settled === undefined) return
    const raised = (thrown: unknown) =>
      this.#settle(
        toolFailure(this.#toolCall, "handler_raised", `${this.#toolCall.name} raised: ${describe(thrown)}`, thrown)
      )
    const proceed = (value: A) => {
      try {
        then(value)
      } catch (thrown) {
        raised(thrown)
      }
    }
    let begun: A | PromiseLike<A> | Effect.Effect<A, unknown>
    try {
      begun = begin()
    } catch (thrown) {
      return raised(thrown)
    }
    if (Effect.isEffect(begun)) {
      this.#fiber = this.#fork(begun)
      this.#fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) proceed(exit.value as A)
        else if (Cause.hasInterruptsOnly(exit.cause))
          this.#settle(toolFailure(this.#toolCall, "cancelled", "the call was interrupted"))
        else raised(Cause.squash(exit.cause))
      })
      return
    }
    if (isPromiseLike<A>(begun)) Promise.resolve(begun).then(proceed, raised)
    else proceed(begun)
  }

  /** An effect runs on the system's clock, within the span of its call. */
  #fork(effect: Effect.Effect<unknown, unknown>): Fiber.Fiber<unknown, unknown> {
    const { trace } = this.#options
    const traced = trace === undefined ? effect : trace.within(this.#toolCall.id, effect)
    return this.#system === undefined ? Effect.runFork(traced) : System.runFork(this.#system, traced)
  }

  #settle(result: HandlerResult.HandlerResult): void {
    const settled = this.#settled
    this.#settled = undefined
    settled?.(result)
  }
}
