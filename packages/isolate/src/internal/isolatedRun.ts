/**
 * One run of a function in a place of its own.
 *
 * Owns: the place, from its opening to its end. Does not own the deadline, nor what the outcome says to the model.
 *
 * ISO1. However the run ends, its place is told to, has `graceMs` to leave, and is killed then; the run is over when the
 *       place is gone. It is opened once and released once.
 * ISO2. The outcome is the function's own, if it said one; a place that is gone without one is a `handler_exit`, which says of a
 *       call that writes that it may have taken effect.
 * ISO3. What cannot be sent there or back is a typed error of the call.
 */
import { ToolError, type ToolErrorReason } from "@troupe/chat/ChatError"
import * as HandlerResult from "@troupe/chat/HandlerResult"
import type { ToolContext } from "@troupe/chat/Tool"
import { Clock } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type { FromPlace, Job, SentResult } from "./job.ts"
import { type Isolation, isSendable, open, type Place } from "./place.ts"

/** What is run, and where. */
export interface IsolatedRun {
  readonly isolation: Isolation
  readonly module: string
  readonly export: string
  readonly graceMs: number
  /** Whether its calls may change something. */
  readonly writes: boolean
}

/** Runs the function with these arguments. */
export const isolatedRun = (
  { isolation, module, export: name, graceMs, writes }: IsolatedRun,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext
): Effect.Effect<HandlerResult.HandlerResult, unknown> => {
  const job: Job = {
    type: "job",
    module,
    export: name,
    args,
    context: sendableOf(isolation, context.context),
    sessionId: context.sessionId,
    requestId: context.requestId,
    toolCall: context.toolCall,
    idempotencyKey: context.idempotencyKey
  }
  return Effect.acquireUseRelease(
    Effect.sync(() => new Running(isolation, context, writes)),
    (running) => running.outcome(job),
    (running) => running.end(graceMs)
  )
}

/** The part of the context that can be sent. */
const sendableOf = (
  isolation: Isolation,
  context: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(context).filter(([, value]) => isSendable(isolation, value)))

type Outcome = Effect.Effect<HandlerResult.HandlerResult, unknown>

/** An open place, and who waits for it. */
class Running {
  readonly #context: ToolContext
  readonly #writes: boolean
  /** Whether the job was sent, so that the function may have begun. */
  #sent = false
  readonly #place: Place | undefined
  #outcome: Outcome | undefined
  #gone = false
  readonly #waiting = new Set<() => void>()

  constructor(isolation: Isolation, context: ToolContext, writes: boolean) {
    this.#context = context
    this.#writes = writes
    try {
      this.#place = open(isolation, {
        said: (message) => this.#said(message),
        ended: (reason) => this.#ended(reason)
      })
    } catch (cause) {
      this.#ended(`there is no place to run it: ${textOf(cause)}`, cause)
    }
  }

  /** Sends the job and waits for its outcome. */
  outcome(job: Job): Outcome {
    return Effect.suspend(() => {
      try {
        this.#place?.send(job)
        this.#sent = true
      } catch (cause) {
        const message = `the arguments cannot be sent to where ${this.#name} runs: ${textOf(cause)}`
        return this.#failed("invalid_arguments", message, cause)
      }
      return Effect.flatMap(
        this.#until(() => this.#outcome !== undefined),
        () => this.#outcome ?? Effect.die(new Error("a run ended without an outcome"))
      )
    })
  }

  /** Ends the place (ISO1). What it may take is the host's time, whatever clock the call runs on: so are threads. */
  end(graceMs: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#gone) this.#place?.send({ type: "abort" })
      return Effect.andThen(
        this.#until(() => this.#gone, graceMs),
        Effect.suspend(() => {
          if (!this.#gone) this.#place?.kill()
          return this.#until(() => this.#gone)
        })
      )
    })
  }

  get #name(): string {
    return this.#context.toolCall.name
  }

  #said(message: FromPlace): void {
    if (this.#outcome !== undefined) return
    switch (message.type) {
      case "progress":
        this.#context.progress(message.value)
        return
      case "settled":
        this.#settle(Effect.succeed(resultOf(message.result)))
        return
      case "raised":
        this.#settle(Effect.fail(raisedError(message.message, message.stack)))
        return
      case "crashed":
        this.#settle(this.#exited(`it crashed: ${message.message}`))
        return
      case "unsendable":
        this.#settle(this.#failed("encoding_failed", `the result cannot leave where it was made: ${message.message}`))
    }
  }

  #ended(reason: string, cause?: unknown): void {
    this.#gone = true
    this.#settle(this.#exited(reason, cause))
  }

  /** Nobody knows how far it came (ISO2). */
  #exited(reason: string, cause?: unknown): Outcome {
    const effect = this.#writes && this.#sent ? "; it may have taken effect" : ""
    return this.#failed("handler_exit", `${this.#name} has no result: ${reason}${effect}`, cause)
  }

  #settle(outcome: Outcome): void {
    this.#outcome ??= outcome
    this.#tell()
  }

  #tell(): void {
    for (const look of this.#waiting) look()
  }

  #until(holds: () => boolean, withinMs?: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const timer = withinMs === undefined || holds() ? undefined : Clock.live.setTimeout(() => done(), withinMs)
      const leave = () => {
        this.#waiting.delete(look)
        Clock.live.clearTimeout(timer)
      }
      const done = () => {
        leave()
        resume(Effect.void)
      }
      const look = () => {
        if (holds()) done()
      }
      this.#waiting.add(look)
      look()
      return Effect.sync(leave)
    })
  }

  #failed(reason: ToolErrorReason, message: string, cause?: unknown): Outcome {
    const { toolCall } = this.#context
    const error = new ToolError(reason, { message, toolName: toolCall.name, toolCallId: toolCall.id, cause })
    return Effect.succeed(HandlerResult.error(error))
  }
}

/** The constructors make an outcome of what was sent. */
const resultOf = (sent: SentResult): HandlerResult.HandlerResult => {
  switch (sent.type) {
    case "ok":
      return HandlerResult.ok(sent.value)
    case "error":
      return HandlerResult.error(sent.reason)
    case "ask_user":
      return HandlerResult.askUser(sent.question, sent.options)
    case "halt":
      return HandlerResult.halt(sent.reason, sent.result)
  }
}

/** The error as it was thrown there. */
const raisedError = (message: string, stack: string | undefined): Error => {
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
