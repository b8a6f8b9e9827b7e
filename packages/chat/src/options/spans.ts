/**
 * The spans of one run: of a chat, of a step, of a batch of tools.
 *
 * Owns: the open spans. Does not own the traced operations, which report their beginning and end.
 *
 * TRACE1. A span ends once: with its operation, or interrupted when the run ends before.
 * TRACE2. Children end before their parents.
 * TRACE3. Exceptions of a tracer do not affect the run.
 */
import type { Clock } from "@troupe/otp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { ChatResult, StepResult } from "../record/index.ts"
import type { Request, Response, ToolCall, ToolMessage } from "../model/index.ts"
import type { Tracing } from "./Tracing.ts"
import type { ToolEvent } from "../events/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"

type Attributes = Readonly<Record<string, unknown>>

/** An open span. */
interface Open {
  readonly span: Tracer.Span
}

/** Ends the span of a request. */
export interface TracedRequest {
  readonly exhausted: (response: Response) => void
  readonly refused: (error: unknown) => void
  readonly abandoned: () => void
}

/** The attributes of an outcome in the span of a call. */
interface TracedOutcome {
  readonly events: readonly [ToolEvent, ToolEvent, ToolEvent]
  readonly message: ToolMessage
}

/** The spans of one run. */
export class Trace {
  readonly #tracing: Tracing
  readonly #clock: Clock.Clock
  readonly #conversation: string | undefined
  /** The open spans, each after its parent. */
  readonly #open = new Set<Open>()
  /** The spans of running calls, by call id. */
  readonly #tools = new Map<string, Open>()
  #chat: Open | undefined
  #step: Open | undefined
  #steps = 0

  constructor(tracing: Tracing, clock: Clock.Clock, conversation: string | undefined) {
    this.#tracing = tracing
    this.#clock = clock
    this.#conversation = conversation
  }

  chatBegan(): void {
    const { agent } = this.#tracing
    this.#chat = this.#begin(agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`, "internal", undefined, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agent,
      "gen_ai.conversation.id": this.#conversation
    })
  }

  chatEnded({ haltedReason, steps, metadata }: ChatResult): void {
    const chat = this.#chat
    this.#chat = undefined
    const attributes = { "troupe.halted_reason": haltedReason, "troupe.steps": steps.length }
    if (haltedReason === "cancelled") this.#interrupt(chat, attributes)
    else this.#end(chat, attributes, haltedReason === "error" ? metadata["error"] : undefined)
  }

  stepBegan(): void {
    this.#step = this.#begin("step", "internal", this.#chat, { "troupe.step.index": this.#steps++ })
  }

  stepEnded({ response, halt, error }: StepResult): void {
    const step = this.#step
    this.#step = undefined
    const attributes = { "gen_ai.response.finish_reasons": finishReasons(response), "troupe.halt": halt?.type }
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
  request(request: Request, provider: string): TracedRequest {
    const { model, temperature, maxTokens, responseFormat, messages } = request
    const span = this.#begin(model === undefined ? "chat" : `chat ${model}`, "client", this.#step ?? this.#chat, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": provider,
      "gen_ai.conversation.id": this.#conversation,
      "gen_ai.request.model": model,
      "gen_ai.request.temperature": temperature,
      "gen_ai.request.max_tokens": maxTokens,
      "gen_ai.output.type": responseFormat === undefined || responseFormat.type === "text" ? "text" : "json",
      ...this.#content({ "gen_ai.input.messages": () => describe(messages) })
    })
    return {
      exhausted: (response) => this.#end(span, this.#answer(response), errorOf(response)),
      refused: (error) => this.#end(span, {}, error),
      abandoned: () => this.#interrupt(span, {})
    }
  }

  #answer(response: Response): Attributes {
    const { id, model, usage, message, outputText } = response
    return {
      "gen_ai.response.id": id,
      "gen_ai.response.model": model,
      "gen_ai.response.finish_reasons": finishReasons(response),
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteInputTokens,
      ...this.#content({ "gen_ai.output.messages": () => describe([message ?? outputText]) })
    }
  }

  /** Begins the span of a handler; the returned function ends the span with the call's outcome. */
  tool(toolCall: ToolCall, tool: Tool): (outcome: TracedOutcome) => void {
    const span = this.#begin(`execute_tool ${toolCall.name}`, "internal", this.#step ?? this.#chat, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolCall.name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": toolCall.id,
      "gen_ai.tool.description": tool.description === "" ? undefined : tool.description,
      ...this.#content({ "gen_ai.tool.call.arguments": () => describe(toolCall.arguments) })
    })
    if (span !== undefined) this.#tools.set(toolCall.id, span)
    return ({ events: [, completed], message }) => {
      this.#tools.delete(toolCall.id)
      const said = this.#content({ "gen_ai.tool.call.result": () => message.content })
      const result = completed.type === "tool_execution_completed" ? completed.result : undefined
      if (result?.type !== "error") this.#end(span, said, undefined)
      else if (reasonOf(result.reason) === "cancelled") this.#interrupt(span, said)
      else this.#end(span, said, result.reason ?? "failed")
    }
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

  /** The content as text; `describe` never throws. */
  #content(attributes: Readonly<Record<string, () => unknown>>): Attributes {
    if (this.#tracing.content !== true) return {}
    return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, value()]))
  }

  #begin(name: string, kind: Tracer.SpanKind, parent: Open | undefined, attributes: Attributes): Open | undefined {
    const { tracer } = this.#tracing
    const above = parent?.span ?? this.#tracing.parent
    try {
      const span = tracer.span({
        name,
        parent: Option.fromUndefinedOr(above),
        annotations: Context.empty(),
        links: [],
        startTime: nanoseconds(this.#clock),
        kind,
        root: above === undefined,
        sampled: above?.sampled ?? true
      })
      const open = { span }
      this.#open.add(open)
      write(span, attributes)
      return open
    } catch {
      return undefined
    }
  }

  #end(open: Open | undefined, attributes: Attributes, error: unknown): void {
    const failed = error === undefined ? {} : { "error.type": reasonOf(error) ?? "_OTHER" }
    this.#finish(open, { ...attributes, ...failed }, error === undefined ? Exit.void : Exit.fail(asError(error)))
  }

  #interrupt(open: Open | undefined, attributes: Attributes): void {
    this.#finish(open, attributes, Exit.interrupt())
  }

  #finish(open: Open | undefined, attributes: Attributes, exit: Exit.Exit<unknown, unknown>): void {
    if (open === undefined || !this.#open.delete(open)) return
    try {
      write(open.span, attributes)
      open.span.end(nanoseconds(this.#clock), exit)
    } catch {
      // Exceptions of a tracer are swallowed (TRACE3).
    }
  }
}

const write = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span.attribute(key, value)
}

const nanosecondsPerMs = 1_000_000

const nanoseconds = (clock: Clock.Clock): bigint => {
  const now = clock.now()
  const whole = Math.floor(now)
  return BigInt(whole) * BigInt(nanosecondsPerMs) + BigInt(Math.round((now - whole) * nanosecondsPerMs))
}

const finishReasons = ({ finishReason }: Response): ReadonlyArray<string> | undefined =>
  finishReason === null ? undefined : [finishReason]

const errorOf = ({ finishReason, metadata }: Response): unknown =>
  finishReason === "error" ? (metadata["error"] ?? "error") : undefined

/** The `error.type` of a failure: one of few words. */
const reasonOf = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("reason" in error && typeof error.reason === "string") return error.reason
  return error instanceof Error ? error.name : undefined
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(describe(error)))
