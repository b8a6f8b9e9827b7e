/**
 * Sends spans and measurements to OpenTelemetry, through the interfaces of its API.
 *
 * The package `@opentelemetry/api` is not imported: its providers are passed by the caller, and its context keys are
 * registered symbols.
 *
 * OTEL1. The attributes that a span begins with are known to the sampler.
 * OTEL2. While a handler runs, its span is the active span of OpenTelemetry, if `context` is given.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { Attributes, Metric, SamplingTracer } from "../options/index.ts"

/** Seconds and nanoseconds. */
type HrTime = [number, number]

interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

/** The parts of OpenTelemetry's `Span` that are called. */
interface OtelSpan {
  spanContext(): SpanContext
  setAttribute(key: string, value: never): unknown
  setStatus(status: { code: number; message?: string }): unknown
  addEvent(name: string, attributes?: never, time?: HrTime): unknown
  addLink(link: { context: never; attributes?: never }): unknown
  end(time?: HrTime): void
}

/** OpenTelemetry's `Context`. */
interface OtelContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): OtelContext
  deleteValue(key: symbol): OtelContext
}

interface OtelTracer {
  startSpan(
    name: string,
    options?: { kind?: never; startTime?: HrTime; attributes?: never; links?: Array<never>; root?: boolean },
    context?: OtelContext
  ): OtelSpan
}

/** The parts of OpenTelemetry's `TracerProvider` that are called. */
export interface TracerProvider {
  getTracer(name: string, version?: string): OtelTracer
}

interface Histogram {
  record(value: number, attributes?: never): void
}

/** The parts of OpenTelemetry's `MeterProvider` that are called. */
export interface MeterProvider {
  getMeter(
    name: string,
    version?: string
  ): {
    createHistogram(
      name: string,
      options?: { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: Array<number> } }
    ): Histogram
  }
}

/** The parts of OpenTelemetry's `context` that are called. */
export interface ContextApi {
  active(): OtelContext
  with<A>(context: OtelContext, run: () => A): A
}

const scopeName = "@troupe/chat"

/** The key under which `@opentelemetry/api` keeps the span of a context. */
const spanKey = Symbol.for("OpenTelemetry Context Key SPAN")

/** A context of values. */
class Values implements OtelContext {
  readonly #values: ReadonlyMap<symbol, unknown>

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key)
  }

  setValue(key: symbol, value: unknown): Values {
    return new Values(new Map(this.#values).set(key, value))
  }

  deleteValue(key: symbol): Values {
    const values = new Map(this.#values)
    values.delete(key)
    return new Values(values)
  }
}

const noValues = new Values(new Map())

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0]

/** `SpanKind` of OpenTelemetry. */
const kinds: Readonly<Record<Tracer.SpanKind, number>> = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 }

const sampledFlag = 1
const failedStatus = 2

const nanosecondsPerSecond = 1_000_000_000n

const hrTime = (time: bigint): HrTime => [Number(time / nanosecondsPerSecond), Number(time % nanosecondsPerSecond)]

/** An Effect span that is a span of OpenTelemetry. */
class BridgedSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly annotations: Context.Context<never>
  readonly links: Array<Tracer.SpanLink>
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  readonly attributes = new Map<string, unknown>()
  readonly span: OtelSpan
  status: Tracer.SpanStatus

  constructor(options: SpanOptions, span: OtelSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext()
    this.name = options.name
    this.kind = options.kind
    this.parent = options.parent
    this.annotations = options.annotations
    this.links = [...options.links]
    this.traceId = traceId
    this.spanId = spanId
    this.sampled = (traceFlags & sampledFlag) !== 0
    this.span = span
    this.status = { _tag: "Started", startTime: options.startTime }
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
    this.span.setAttribute(key, asValue(value) as never)
  }

  event(name: string, startTime: bigint, attributes: Attributes = {}): void {
    this.span.addEvent(name, asValues(attributes) as never, hrTime(startTime))
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.links.push(...links)
    for (const link of links) this.span.addLink(linkOf(link) as never)
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
      const [error = new Error("The operation failed")] = Cause.prettyErrors(exit.cause)
      this.span.setStatus({ code: failedStatus, message: error.message })
    }
    this.span.end(hrTime(endTime))
  }
}

const linkOf = ({ span, attributes }: Tracer.SpanLink) => ({
  context: contextOf(span),
  attributes: asValues(attributes)
})

const contextOf = ({ traceId, spanId, sampled }: Tracer.AnySpan): SpanContext => ({
  traceId,
  spanId,
  traceFlags: sampled ? sampledFlag : 0
})

const asValues = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, asValue(value)]))

/** An attribute's value as OpenTelemetry accepts it. */
const asValue = (value: unknown): unknown => {
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value
  return String(value)
}

/** A parent span as a span of OpenTelemetry; a span of another tracer has only its context. */
const spanOf = (parent: Tracer.AnySpan): unknown =>
  parent instanceof BridgedSpan ? parent.span : { spanContext: () => contextOf(parent), isRecording: () => false }

/** An Effect tracer whose spans are spans of OpenTelemetry. */
export class OpenTelemetryTracer implements SamplingTracer {
  readonly #tracer: OtelTracer
  readonly #contexts: ContextApi | undefined
  readonly context: Tracer.Tracer["context"]

  constructor(provider: TracerProvider, contexts: ContextApi | undefined) {
    this.#tracer = provider.getTracer(scopeName)
    this.#contexts = contexts
    this.context = contexts === undefined ? undefined : (primitive, fiber) => within(contexts, primitive, fiber)
  }

  span(options: SpanOptions): Tracer.Span {
    return this.begin(options, {})
  }

  /** Begins a span with attributes (OTEL1). */
  begin(options: SpanOptions, attributes: Attributes): Tracer.Span {
    const { name, kind, links, startTime } = options
    const parent = Option.getOrUndefined(options.parent)
    const active = this.#contexts?.active() ?? noValues
    const context = parent === undefined ? active : active.setValue(spanKey, spanOf(parent))
    const given = {
      kind: kinds[kind],
      startTime: hrTime(startTime),
      attributes: asValues(attributes),
      links: links.map(linkOf)
    }
    const span = new BridgedSpan(options, this.#tracer.startSpan(name, given as never, context))
    for (const [key, value] of Object.entries(attributes)) span.attributes.set(key, value)
    return span
  }
}

/** Evaluates a part of an Effect with its span as the active span of OpenTelemetry (OTEL2). */
const within = <A>(
  contexts: ContextApi,
  primitive: { readonly ["~effect/Effect/evaluate"]: (fiber: Fiber.Fiber<never>) => A },
  fiber: Fiber.Fiber<unknown, unknown>
): A => {
  const run = (): A => primitive["~effect/Effect/evaluate"](fiber as Fiber.Fiber<never>)
  const { span } = fiber.cache
  return span === undefined ? run() : contexts.with(contexts.active().setValue(spanKey, spanOf(span)), run)
}

/** Records measurements in histograms, each of which is made at its first measurement. */
export const recorder = (
  provider: MeterProvider
): ((metric: Metric, value: number, attributes: Attributes) => void) => {
  const meter = provider.getMeter(scopeName)
  const histograms = new Map<string, Histogram>()
  return ({ name, unit, description, boundaries }, value, attributes) => {
    let histogram = histograms.get(name)
    if (histogram === undefined) {
      const advice = { explicitBucketBoundaries: [...boundaries] }
      histogram = meter.createHistogram(name, { unit, description, advice })
      histograms.set(name, histogram)
    }
    histogram.record(value, asValues(attributes) as never)
  }
}
