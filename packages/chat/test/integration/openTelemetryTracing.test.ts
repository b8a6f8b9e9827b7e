import {
  type Context,
  context,
  type ContextManager,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace
} from "@opentelemetry/api"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader
} from "@opentelemetry/sdk-metrics"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type Sampler,
  SamplingDecision,
  SimpleSpanProcessor
} from "@opentelemetry/sdk-trace-base"
import * as Effect from "effect/Effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { afterEach, beforeEach, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { Tracing } from "../../src/observe/Tracing.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { callThenAnswer, calls, echo, handling, hi, says } from "../double/scripts.ts"

/** The context manager of a Node program. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }

  with<A extends Array<unknown>, F extends (...args: A) => ReturnType<F>>(
    active: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => run.call(self as never, ...args))
  }

  bind<A>(_: Context, target: A): A {
    return target
  }

  enable(): this {
    return this
  }

  disable(): this {
    return this
  }
}

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

beforeEach(() => void context.setGlobalContextManager(new AsyncContexts()))

afterEach(() => {
  exporter.reset()
  context.disable()
})

const finished = () => {
  const spans = exporter.getFinishedSpans()
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
  return spans.map(({ name, kind, status, parentSpanContext }) => ({
    name,
    kind: SpanKind[kind],
    below: nameOf.get(parentSpanContext?.spanId ?? ""),
    status: SpanStatusCode[status.code]
  }))
}

const spanNamed = (name: string) => {
  const found = exporter.getFinishedSpans().find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name}`)
  return found
}

const engine = (scripts = callThenAnswer, tools = [echo]) =>
  Engine.make({ adapter: Fake.make({ scripts }), tools, model: "m1" })

test("Tracing.openTelemetry(provider) sends the spans of a run, in one trace, with their kinds and parents", async () => {
  await Chat.run(engine(), hi, { tracing: Tracing.openTelemetry(provider, { agent: "guide" }) })
  expect(finished()).toEqual([
    { name: "chat m1", kind: "CLIENT", below: "step", status: "UNSET" },
    { name: "execute_tool echo", kind: "INTERNAL", below: "step", status: "UNSET" },
    { name: "step", kind: "INTERNAL", below: "invoke_agent guide", status: "UNSET" },
    { name: "chat m1", kind: "CLIENT", below: "step", status: "UNSET" },
    { name: "step", kind: "INTERNAL", below: "invoke_agent guide", status: "UNSET" },
    { name: "invoke_agent guide", kind: "INTERNAL", below: undefined, status: "UNSET" }
  ])
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1)
  expect(spanNamed("chat m1").attributes).toMatchObject({
    "gen_ai.provider.name": "fake",
    "gen_ai.request.stream": true,
    "gen_ai.response.finish_reasons": ["tool_call"]
  })
  expect(spanNamed("chat m1").instrumentationScope.name).toBe("@troupe/chat")
})

test("a span lasts as long as its operation", async () => {
  const slow = handling("echo", () => Effect.as(Effect.sleep(20), ok(1)))
  await Chat.run(engine(callThenAnswer, [slow]), hi, { tracing: Tracing.openTelemetry(provider) })
  const { startTime, duration } = spanNamed("execute_tool echo")
  expect(Math.abs(startTime[0] - performance.timeOrigin / 1000)).toBeLessThan(3600)
  expect(duration[0] * 1e9 + duration[1]).toBeGreaterThan(15e6)
})

test("a failed span has the status of an error with its type, and its text only with content", async () => {
  const failing = () => engine([[{ text: "par" }, { error: "timeout" }]])
  await Chat.run(failing(), hi, { tracing: Tracing.openTelemetry(provider) })
  expect(spanNamed("chat m1").status).toEqual({ code: SpanStatusCode.ERROR, message: "timeout" })
  expect(spanNamed("chat m1").attributes["error.type"]).toBe("timeout")
  exporter.reset()
  await Chat.run(failing(), hi, { tracing: Tracing.openTelemetry(provider, { content: true }) })
  expect(spanNamed("chat m1").status.message).toContain("The model request failed")
})

test("an interrupted span is no error", async () => {
  const abort = new AbortController()
  const events = await Chat.stream(engine([[{ text: "on" }, { hang: true }]]), hi, {
    signal: abort.signal,
    tracing: Tracing.openTelemetry(provider)
  })
  for await (const event of events) if (event.type === "text_delta") abort.abort()
  expect(spanNamed("invoke_agent").status.code).toBe(SpanStatusCode.UNSET)
  expect(spanNamed("invoke_agent").attributes["troupe.interrupted"]).toBe(true)
})

test("OTEL1 the sampler reads the attributes that a span begins with", async () => {
  const seen: Array<unknown> = []
  const sampler: Sampler = {
    shouldSample: (_context, _traceId, name, _kind, attributes) => {
      seen.push([name, attributes["gen_ai.operation.name"], attributes["gen_ai.request.model"]])
      return { decision: name.startsWith("chat") ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }
    },
    toString: () => "only requests"
  }
  const sampled = new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] })
  await Chat.run(engine([says("x")]), hi, { tracing: Tracing.openTelemetry(sampled) })
  expect(seen).toEqual([
    ["invoke_agent", "invoke_agent", "m1"],
    ["step", undefined, undefined],
    ["chat m1", "chat", "m1"]
  ])
  expect(finished().map(({ name }) => name)).toEqual(["chat m1"])
})

const tracer = provider.getTracer("mine")

test("with context, the active span is the parent of a turn", async () => {
  const tracing = Tracing.openTelemetry(provider, { context })
  await tracer.startActiveSpan("route", async (span) => {
    await Chat.run(engine([says("x")]), hi, { tracing })
    span.end()
  })
  expect(finished().map(({ name, below }) => [name, below])).toEqual([
    ["chat m1", "step"],
    ["step", "invoke_agent"],
    ["invoke_agent", "route"],
    ["route", undefined]
  ])
})

test.each([
  [
    "a promise",
    async () => {
      await Promise.resolve()
      tracer.startSpan("inside").end()
      return ok(1)
    }
  ],
  [
    "an Effect",
    () =>
      Effect.sync(() => {
        tracer.startSpan("inside").end()
        return ok(1)
      })
  ],
  ["an Effect with a span", () => Effect.succeed(ok(1)).pipe(Effect.withSpan("inside"))]
] as const)("OTEL2 the span of a call is the active span of its handler: %s", async (_, handler) => {
  const tracing = Tracing.openTelemetry(provider, { context })
  await Chat.run(engine([calls("t"), says("x")], [handling("t", handler)]), hi, { tracing })
  expect(finished().find(({ name }) => name === "inside")?.below).toBe("execute_tool t")
  expect(trace.getActiveSpan()).toBeUndefined()
})

test("metrics reach the meter provider, with the boundaries of the conventions", async () => {
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
  const meters = new MeterProvider({ readers: [reader] })
  const scripts = [[{ usage: { inputTokens: 7, outputTokens: 3 } }, ...says("x")]]
  await Chat.run(engine(scripts), hi, { tracing: Tracing.openTelemetry(provider, { metrics: meters }) })
  await meters.forceFlush()
  const found = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  expect(found.map(({ descriptor: { name, unit } }) => [name, unit])).toEqual([
    ["gen_ai.client.operation.time_to_first_chunk", "s"],
    ["gen_ai.client.token.usage", "{token}"],
    ["gen_ai.client.operation.duration", "s"],
    ["gen_ai.invoke_agent.duration", "s"]
  ])
  const tokens = found.find(({ descriptor }) => descriptor.name === "gen_ai.client.token.usage")
  expect(tokens?.dataPoints.map(({ attributes, value }) => [attributes["gen_ai.token.type"], value])).toMatchObject([
    ["input", { sum: 7, buckets: { boundaries: expect.arrayContaining([1, 4, 67_108_864]) } }],
    ["output", { sum: 3 }]
  ])
  await meters.shutdown()
})
