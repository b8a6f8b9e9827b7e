/**
 * The spans and measurements of one run: of a chat, of a step, of a batch of tools.
 *
 * Owns: the open spans. Does not own the traced operations, which report their beginning and end.
 *
 * TRACE1. A span ends once: with its operation, or interrupted when the run ends before.
 * TRACE2. Children end before their parents.
 * TRACE3. Exceptions of a tracer or a meter do not affect the run; the log gets them.
 * TRACE4. Without `content`, no span has the text of a message, of arguments, of a result or of an error.
 * TRACE5. The duration of an operation is measured once, and is that of its span.
 */
import type { System } from "@troupe/otp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { Adapter } from "../adapter/index.ts"
import { callUnawaited, reportFault } from "../async/index.ts"
import type { ChatResult, StepResult } from "../record/index.ts"
import type { Request, Response, ToolCall, ToolMessage } from "../model/index.ts"
import * as Usage from "../model/Usage.ts"
import { beginSpan, type Tracing, write } from "./traceOptions.ts"
import type { ToolEvent } from "../events/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import {
  agentDuration,
  argumentsContent,
  type Attributes,
  finishReasons,
  inputContent,
  type Metric,
  outputContent,
  providerName,
  requestDuration,
  responseAttributes,
  resultContent,
  samplingAttributes,
  timeToFirstChunk,
  tokenUsage,
  toolDuration,
  usageAttributes
} from "./genAi.ts"

/** TRACE3 */
const tracerFailed = "The tracer of `tracing` failed"

/** An open span. */
interface Open {
  readonly span: Tracer.Span
  readonly timed: { readonly metric: Metric; readonly attributes: Attributes } | undefined
  /** When it began, in milliseconds. */
  readonly from: number
}

/** Ends the span of a request. */
export interface TracedRequest {
  /** The first event was read. */
  readonly begun: () => void
  readonly exhausted: (response: Response) => void
  readonly refused: (error: unknown) => void
  readonly abandoned: () => void
}

/** A run, as its spans describe it. */
export interface TracedRun extends Pick<Request, "temperature" | "maxTokens" | "responseFormat" | "options"> {
  readonly conversation: string | undefined
  readonly adapter: Adapter | undefined
  readonly model: string | undefined
}

/** The spans of one run. */
export class Trace {
  readonly #tracing: Tracing
  readonly #system: System.System
  readonly #run: TracedRun
  readonly #agent: string | undefined
  /** The open spans, each after its parent. */
  readonly #open = new Set<Open>()
  /** The spans of running calls, by call id. */
  readonly #tools = new Map<string, Open>()
  #chat: Open | undefined
  #step: Open | undefined
  #steps = 0
  /** The first request of the run. */
  #first: Request | undefined

  constructor(tracing: Tracing, system: System.System, run: TracedRun) {
    this.#tracing = tracing
    this.#system = system
    this.#run = run
    this.#agent = typeof tracing.agent === "object" ? tracing.agent.name : tracing.agent
  }

  chatBegan(): void {
    const { adapter, model, conversation } = this.#run
    const name = this.#agent === undefined ? "invoke_agent" : `invoke_agent ${this.#agent}`
    const { id, description, version } = typeof this.#tracing.agent === "object" ? this.#tracing.agent : {}
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": providerName(adapter),
      "gen_ai.request.model": adapter?.model ?? model,
      "gen_ai.agent.name": this.#agent,
      "gen_ai.agent.id": id,
      "gen_ai.agent.description": description,
      "gen_ai.agent.version": version,
      "gen_ai.conversation.id": conversation,
      ...samplingAttributes(this.#run)
    }
    const timed = { metric: agentDuration, attributes: { "gen_ai.agent.name": this.#agent } }
    this.#chat = this.#begin(name, "internal", undefined, attributes, timed)
  }

  chatEnded({ haltedReason, steps, finalResponse, metadata }: ChatResult): void {
    const chat = this.#chat
    this.#chat = undefined
    const first = this.#first
    const attributes = {
      "gen_ai.response.finish_reasons": finishReasons(finalResponse?.finishReason ?? null),
      ...usageAttributes(steps.map(({ response }) => response.usage).reduce(Usage.add, Usage.empty)),
      "troupe.halted_reason": haltedReason,
      "troupe.steps": steps.length,
      ...this.#content(() => ({
        ...(first === undefined ? {} : inputContent(first)),
        ...(finalResponse === undefined ? {} : outputContent(finalResponse))
      }))
    }
    if (haltedReason === "cancelled") this.#interrupt(chat, attributes)
    else this.#end(chat, attributes, haltedReason === "error" ? metadata["error"] : undefined)
  }

  stepBegan(): void {
    this.#step = this.#begin("step", "internal", this.#chat, { "troupe.step.index": this.#steps++ })
  }

  stepEnded({ response, halt, error }: StepResult): void {
    const step = this.#step
    this.#step = undefined
    const attributes = {
      "gen_ai.response.finish_reasons": finishReasons(response.finishReason),
      "troupe.halt": halt?.type
    }
    const failure = error ?? (halt?.type === "tool_error" ? halt.error : errorOf(response))
    if (halt?.type === "cancelled") this.#interrupt(step, attributes)
    else this.#end(step, attributes, failure)
  }

  /** Ends a step that could not begin because its request was refused. */
  stepRefused(error: unknown): void {
    const step = this.#step
    this.#step = undefined
    this.#end(step, {}, error)
  }

  /** Begins the span of one attempt of a request. */
  request(request: Request, adapter: Adapter): TracedRequest {
    this.#first ??= request
    const from = this.#system.clock.now()
    const model = adapter.model ?? request.model
    const described = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerName(adapter),
      "gen_ai.request.model": model
    }
    const attributes = {
      ...described,
      "gen_ai.conversation.id": this.#run.conversation,
      "gen_ai.request.stream": true,
      ...samplingAttributes(request),
      ...this.#content(() => inputContent(request))
    }
    const parent = this.#step ?? this.#chat
    const timed = { metric: requestDuration, attributes: described }
    const span = this.#begin(model === undefined ? "chat" : `chat ${model}`, "client", parent, attributes, timed)
    let firstAfter: number | undefined
    return {
      begun: () => {
        firstAfter = inSeconds(this.#system.clock.now() - from)
        this.#record(timeToFirstChunk, firstAfter, described)
      },
      exhausted: (response) => {
        const answer = {
          ...responseAttributes(response),
          "gen_ai.response.time_to_first_chunk": firstAfter,
          ...this.#content(() => outputContent(response))
        }
        const answered = { "gen_ai.response.model": response.model }
        this.#countTokens(response, { ...described, ...answered })
        this.#end(span, answer, errorOf(response), answered)
      },
      refused: (error) => this.#end(span, {}, error),
      abandoned: () => this.#interrupt(span, {})
    }
  }

  #countTokens({ usage }: Response, attributes: Attributes): void {
    const counts = { input: usage.inputTokens, output: usage.outputTokens }
    for (const [type, count] of Object.entries(counts)) {
      if (count !== undefined) this.#record(tokenUsage, count, { ...attributes, "gen_ai.token.type": type })
    }
  }

  /** Begins the span of a handler; the returned function ends the span with the call's outcome. */
  tool(
    toolCall: ToolCall,
    tool: Tool
  ): (outcome: { readonly events: readonly [ToolEvent, ToolEvent, ToolEvent]; readonly message: ToolMessage }) => void {
    const described = { "gen_ai.tool.name": toolCall.name, "gen_ai.tool.type": "function" }
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      ...described,
      "gen_ai.tool.call.id": toolCall.id,
      "gen_ai.tool.description": tool.description === "" ? undefined : tool.description,
      ...this.#content(() => argumentsContent(toolCall))
    }
    const timed = { metric: toolDuration, attributes: { ...described, "gen_ai.agent.name": this.#agent } }
    const parent = this.#step ?? this.#chat
    const span = this.#begin(`execute_tool ${toolCall.name}`, "internal", parent, attributes, timed)
    if (span !== undefined) this.#tools.set(toolCall.id, span)
    return ({ events: [, completed], message }) => {
      this.#tools.delete(toolCall.id)
      const result = completed.type === "tool_execution_completed" ? completed.result : undefined
      if (result?.type !== "error")
        this.#end(
          span,
          this.#content(() => resultContent(message)),
          undefined
        )
      else if (reasonOf(result.reason) === "cancelled") this.#interrupt(span, {})
      else this.#end(span, {}, result.reason ?? "failed")
    }
  }

  /** The span of a running call. */
  spanOf(toolCallId: string): Tracer.Span | undefined {
    return this.#tools.get(toolCallId)?.span
  }

  /** Runs a handler's effect within its call's span. */
  within<A, E>(toolCallId: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const open = this.#tools.get(toolCallId)
    if (open === undefined) return effect
    return effect.pipe(Effect.withParentSpan(open.span), Effect.withTracer(this.#tracing.tracer))
  }

  /** Ends the run: open spans end with its failure, or interrupted. */
  close(failure: { readonly error: unknown } | undefined): void {
    for (const open of [...this.#open].toReversed()) {
      if (failure === undefined) this.#interrupt(open, {})
      else this.#end(open, {}, failure.error)
    }
    this.#chat = undefined
    this.#step = undefined
    this.#tools.clear()
  }

  /** The attributes with content, for a host that opts in (TRACE4). */
  #content(attributes: () => Attributes): Attributes {
    return this.#tracing.content === true ? attributes() : {}
  }

  #begin(
    name: string,
    kind: Tracer.SpanKind,
    parent: Open | undefined,
    attributes: Attributes,
    timed?: { readonly metric: Metric; readonly attributes: Attributes }
  ): Open | undefined {
    const { tracer } = this.#tracing
    const above = parent?.span ?? this.#tracing.parent
    const from = this.#system.clock.now()
    try {
      const options = {
        name,
        parent: Option.fromUndefinedOr(above),
        annotations: Context.empty(),
        links: [],
        startTime: nanoseconds(from),
        kind,
        root: above === undefined,
        sampled: above?.sampled ?? true
      }
      const span = beginSpan(tracer, options, known(attributes))
      const open = { span, timed, from }
      this.#open.add(open)
      return open
    } catch (error) {
      reportFault(this.#system, tracerFailed, error)
      return undefined
    }
  }

  #end(open: Open | undefined, attributes: Attributes, error: unknown, measured: Attributes = {}): void {
    if (error === undefined) return this.#finish(open, attributes, Exit.void, measured)
    const type = { "error.type": reasonOf(error) ?? "_OTHER" }
    const shown = this.#tracing.content === true ? asError(error) : withoutText(error, type["error.type"])
    this.#finish(open, { ...attributes, ...type }, Exit.fail(shown), { ...measured, ...type })
  }

  #interrupt(open: Open | undefined, attributes: Attributes): void {
    this.#finish(open, { ...attributes, "troupe.interrupted": true }, Exit.interrupt(), {})
  }

  #finish(
    open: Open | undefined,
    attributes: Attributes,
    exit: Exit.Exit<unknown, unknown>,
    measured: Attributes
  ): void {
    if (open === undefined || !this.#open.delete(open)) return
    const { span, timed, from } = open
    const now = this.#system.clock.now()
    try {
      write(span, known(attributes))
      span.end(nanoseconds(now), exit)
    } catch (error) {
      reportFault(this.#system, tracerFailed, error)
    }
    if (timed !== undefined) this.#record(timed.metric, inSeconds(now - from), { ...timed.attributes, ...measured })
  }

  #record(metric: Metric, value: number, attributes: Attributes): void {
    callUnawaited(this.#system, "The meter of `tracing` failed", () =>
      this.#tracing.record?.(metric, value, known(attributes))
    )
  }
}

/** The attributes that have a value. */
const known = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

const msPerSecond = 1_000

const inSeconds = (ms: number): number => ms / msPerSecond

const nanosecondsPerMs = 1_000_000

const nanoseconds = (now: number): bigint => {
  const whole = Math.floor(now)
  return BigInt(whole) * BigInt(nanosecondsPerMs) + BigInt(Math.round((now - whole) * nanosecondsPerMs))
}

const errorOf = ({ finishReason, metadata }: Response): unknown =>
  finishReason === "error" ? (metadata["error"] ?? "error") : undefined

/** The `error.type` of a failure: one of few words. */
const reasonOf = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("reason" in error && typeof error.reason === "string") return error.reason
  return error instanceof Error ? error.name : undefined
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(describe(error)))

/** An error with the type in place of its text and its stack (TRACE4). */
const withoutText = (error: unknown, type: string): Error => {
  const shown = new Error(type)
  shown.name = error instanceof Error ? error.name : "Error"
  shown.stack = `${shown.name}: ${type}`
  return shown
}
