import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { SpanKind, SpanStatusCode } from "@opentelemetry/api"
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterEach, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { callThenAnswer, echo, hi } from "../double/scripts.ts"

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracing = OtelTracer.layerTracer.pipe(Layer.provide(Layer.succeed(OtelTracer.OtelTracerProvider, provider)))

afterEach(() => exporter.reset())

const finished = () => {
  const spans = exporter.getFinishedSpans()
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
  return spans.map((span) => ({
    name: span.name,
    kind: SpanKind[span.kind],
    below: nameOf.get(span.parentSpanContext?.spanId ?? ""),
    status: SpanStatusCode[span.status.code]
  }))
}

test("spans reach an OpenTelemetry exporter, in one trace, with their kinds and parents", async () => {
  const tracer = await Effect.runPromise(OtelTracer.make.pipe(Effect.provide(tracing)))
  const engine = Engine.make({ adapter: Fake.make({ scripts: callThenAnswer }), tools: [echo], model: "m1" })
  await Chat.run(engine, hi, { tracing: { tracer } })
  expect(finished()).toEqual([
    { name: "chat m1", kind: "CLIENT", below: "step", status: "OK" },
    { name: "execute_tool echo", kind: "INTERNAL", below: "step", status: "OK" },
    { name: "step", kind: "INTERNAL", below: "invoke_agent", status: "OK" },
    { name: "chat m1", kind: "CLIENT", below: "step", status: "OK" },
    { name: "step", kind: "INTERNAL", below: "invoke_agent", status: "OK" },
    { name: "invoke_agent", kind: "INTERNAL", below: undefined, status: "OK" }
  ])
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1)
})

test("an error is an exported error, and a program's own spans are above", async () => {
  const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "par" }, { error: "timeout" }] }), model: "m1" })
  const layer = OtelTracer.layer.pipe(Layer.provide(Layer.succeed(OtelTracer.OtelTracerProvider, provider)))
  await Effect.runPromise(ChatEffect.run(engine, hi).pipe(Effect.withSpan("mine"), Effect.provide(layer)))
  expect(finished()).toEqual([
    { name: "chat m1", kind: "CLIENT", below: "step", status: "ERROR" },
    { name: "step", kind: "INTERNAL", below: "invoke_agent", status: "ERROR" },
    { name: "invoke_agent", kind: "INTERNAL", below: "mine", status: "ERROR" },
    { name: "mine", kind: "INTERNAL", below: undefined, status: "OK" }
  ])
  expect(exporter.getFinishedSpans()[0]?.attributes).toMatchObject({ "error.type": "timeout" })
})
