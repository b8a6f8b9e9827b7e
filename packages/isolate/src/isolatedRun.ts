/**
 * One run of a function in a place of its own.
 *
 * Owns: the place, from its opening to its end, and the process of the system that stands for it. Does not own the
 * deadline, nor the outcome's text for the model.
 *
 * ISO1. However the run ends, its place gets the abort, has `graceMs` to exit, and is then killed. The run is over when the
 *       place is gone. The place is opened once and released once.
 * ISO2. The outcome is the function's own, if it sent one. A place that ends without one is a `handler_exit`, which reports
 *       of a call that writes that it may have taken effect.
 * ISO3. A value that cannot be sent in either direction is a typed error of the call; so is a result of too many bytes.
 * ISO4. A message from the place counts only if it is signed with the nonce of its job and has the form of a message. Every
 *       other message is ignored and counted. After `maxIgnored` ignored messages the place is killed, and a run without an
 *       outcome is a `handler_exit` that names the limit.
 * ISO5. The end of the system waits for the place, which is killed after `stopMs` at the latest.
 */
import { askUser, error, halt, ok } from "@troupe/chat"
import { ToolError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import type { Tool } from "@troupe/chat/tools"
import { Clock, Process, System, Telemetry } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { randomBytes } from "node:crypto"
import { textOf } from "./errorText.ts"
import type { Job, SentResult } from "./job.ts"
import { type Isolation, isSendable, open } from "./place.ts"
import { nonceBytes, signedBytes, verified } from "./signature.ts"
import type { Place } from "./placeLimits.ts"

/** The function to run, and its place. */
export interface IsolatedRun {
  readonly isolation: Isolation
  readonly module: string
  readonly export: string
  readonly graceMs: number
  readonly maxMemoryMb: number
  readonly maxResultBytes: number
  readonly env: () => Readonly<Record<string, string>>
  /** Whether its calls may change something. */
  readonly writes: boolean
}

/** How long the end of a system waits for a place whose `graceMs` is longer. */
const stopMs = 5_000

/** The maximum number of unsigned messages of a place. */
const maxIgnored = 10_000

/** Runs the function with these arguments. */
export const isolatedRun = (
  run: IsolatedRun,
  args: Readonly<Record<string, unknown>>,
  context: Tool.ToolContext
): Effect.Effect<HandlerResult, unknown> => {
  const job: Job = {
    type: "job",
    nonce: randomBytes(nonceBytes),
    maxBytes: run.maxResultBytes,
    env: run.env(),
    module: run.module,
    export: run.export,
    args,
    context: sendableOf(run.isolation, context.context),
    sessionId: context.sessionId,
    requestId: context.requestId,
    toolCall: context.toolCall,
    idempotencyKey: context.idempotencyKey
  }
  return Effect.acquireUseRelease(
    Effect.map(Effect.serviceOption(System.System), (system) => {
      const running = new Running(run, job, context, Option.getOrUndefined(system))
      running.open()
      return running
    }),
    (running) => running.outcome,
    (running) => running.end(run.graceMs)
  )
}

/** The part of the context that can be sent. */
const sendableOf = (
  isolation: Isolation,
  context: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(context).filter(([, value]) => isSendable(isolation, value)))

type Outcome = Effect.Effect<HandlerResult, unknown>

/** A place, and the run that waits for it. */
class Running {
  readonly #run: IsolatedRun
  readonly #job: Job
  readonly #context: Tool.ToolContext
  readonly #system: System.System | undefined
  /** Whether the job was sent, so that the function may have begun. */
  #sent = false
  #place: Place | undefined
  #outcome: Outcome | undefined
  #gone = false
  #ignored = 0
  readonly #waiting = new Set<() => void>()

  constructor(run: IsolatedRun, job: Job, context: Tool.ToolContext, system: System.System | undefined) {
    this.#run = run
    this.#job = job
    this.#context = context
    this.#system = system
  }

  /** Opens the place, and starts the process that stands for it in the system (ISO5). */
  open(): void {
    const { isolation, maxMemoryMb, maxResultBytes } = this.#run
    const gone = Effect.onInterrupt(
      Effect.suspend(() => this.#untilGone()),
      () => this.#endWithin(stopMs)
    )
    if (this.#system !== undefined) Process.spawn(this.#system, () => gone, { label: `Isolated ${this.#name}` })
    try {
      const limits = { env: this.#job.env, maxMemoryMb, maxMessageBytes: signedBytes(maxResultBytes) }
      this.#place = open(isolation, limits, {
        received: (message) => this.#received(message),
        ended: (reason) => this.#ended(reason)
      })
    } catch (cause) {
      this.#ended(`there is no place to run it: ${textOf(cause)}`, cause)
    }
  }

  /** Sends the job and waits for its outcome. */
  get outcome(): Outcome {
    return Effect.suspend(() => {
      try {
        this.#place?.send(this.#job)
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

  /** Ends the place (ISO1). */
  end(graceMs: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#gone) this.#place?.send({ type: "abort" })
      return this.#endWithin(graceMs)
    })
  }

  /**
   * Kills the place after a timeout. The timeout uses the host's clock, whatever clock the call runs on, as threads do.
   */
  #endWithin(ms: number): Effect.Effect<void> {
    return Effect.andThen(
      this.#untilGone(ms),
      Effect.suspend(() => {
        if (!this.#gone) this.#place?.kill()
        return this.#untilGone()
      })
    )
  }

  #untilGone(withinMs?: number): Effect.Effect<void> {
    return this.#until(() => this.#gone, withinMs)
  }

  get #name(): string {
    return this.#context.toolCall.name
  }

  #received(received: unknown): void {
    const message = verified(received, this.#job.nonce)
    if (message === undefined) return this.#ignore()
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
        return
      case "oversized": {
        const { maxResultBytes } = this.#run
        const bytes = `the result has ${message.bytes} bytes and maxResultBytes is ${maxResultBytes}`
        this.#settle(this.#failed("encoding_failed", `${bytes}: return less, or where the result is stored`))
      }
    }
  }

  /** Counts an unsigned message (ISO4), and ends a place that sends too many (ISO4). */
  #ignore(): void {
    if (this.#ignored === maxIgnored) return
    this.#ignored++
    if (this.#ignored === maxIgnored) {
      const advice =
        "the function or a library it uses calls process.send or parentPort.postMessage: call context.progress"
      this.#settle(this.#exited(`it sent ${maxIgnored} messages that are not its own: ${advice}`))
      this.#place?.kill()
    }
    if (this.#system === undefined) return
    const { toolCall, sessionId } = this.#context
    Telemetry.notify(this.#system, "tool_call.message_ignored", { count: this.#ignored }, { toolCall, sessionId })
  }

  #ended(reason: string, cause?: unknown): void {
    this.#gone = true
    this.#settle(this.#exited(reason, cause))
  }

  /** The outcome of a place that exited: its progress is unknown (ISO2). */
  #exited(reason: string, cause?: unknown): Outcome {
    const effect = this.#run.writes && this.#sent ? "; it may have taken effect" : ""
    return this.#failed("handler_exit", `${this.#name} has no result: ${reason}${effect}`, cause)
  }

  #settle(outcome: Outcome): void {
    this.#outcome ??= outcome
    this.#notify()
  }

  #notify(): void {
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

  #failed(reason: ToolError["reason"], message: string, cause?: unknown): Outcome {
    const { toolCall } = this.#context
    const failure = new ToolError(reason, { message, toolName: toolCall.name, toolCallId: toolCall.id, cause })
    return Effect.succeed(error(failure))
  }
}

/** Makes an outcome of the sent result with the constructors; the call checks its fields. */
const resultOf = (sent: SentResult): HandlerResult => {
  switch (sent.type) {
    case "ok":
      return ok(sent.value)
    case "error":
      return error(sent.reason)
    case "ask_user":
      return askUser(sent.question as string, sent.options as Parameters<typeof askUser>[1])
    case "halt":
      return halt(sent.reason as string, sent.result)
  }
}

/** Restores the error that the function threw. */
const raisedError = (message: string, stack: string | undefined): Error => {
  const raised = new Error(message)
  if (stack !== undefined) raised.stack = stack
  return raised
}
