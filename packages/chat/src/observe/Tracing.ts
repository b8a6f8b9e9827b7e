/**
 * Spans and metrics of chats, steps, model requests and tool calls.
 *
 * | span                  | kind     | covers                                                                        |
 * | --------------------- | -------- | ----------------------------------------------------------------------------- |
 * | `invoke_agent <name>` | internal | a chat, or a turn of a live chat, until its last event was read               |
 * | `step`                | internal | one model request and the tools it asked for; `troupe.step.index` from 0      |
 * | `chat <model>`        | client   | one attempt of a model request, from its opening until its last event was read |
 * | `execute_tool <name>` | internal | one tool call, from the start of its handler to its outcome                   |
 *
 * Each span is a child of the span above that it belongs to. Names and attributes are those of OpenTelemetry's conventions
 * for generative AI. A span of a failed operation ends with an error (`error.type` names it). A span of an operation that
 * was cancelled, or whose reader left, ends interrupted (`troupe.interrupted`).
 *
 * @module
 * @source OpenTelemetry, semantic conventions for generative AI
 */
import type { Tracing as TracingOption } from "../options/index.ts"
import {
  type ContextApi,
  type MeterProvider,
  OpenTelemetryTracer,
  recorder,
  type TracerProvider
} from "./openTelemetry.ts"

/** Where spans and measurements are sent: the option `tracing` of chats. */
export type Tracing = TracingOption

/** Options of {@link openTelemetry}, beside those of tracing. */
interface OpenTelemetryOptions extends Pick<TracingOption, "parent" | "agent" | "content"> {
  /** The meter provider. Default: there are no metrics. */
  readonly metrics?: MeterProvider | undefined
  /**
   * The `context` of `@opentelemetry/api`. The active span is then the parent of a turn's span, and a handler's span is the
   * active span while it runs. Default: spans have no active parent.
   */
  readonly context?: ContextApi | undefined
}

const openTelemetry = (
  provider: TracerProvider,
  { metrics, context, ...options }: OpenTelemetryOptions = {}
): TracingOption => ({
  ...options,
  tracer: new OpenTelemetryTracer(provider, context),
  record: metrics === undefined ? undefined : recorder(metrics)
})

/**
 * Tracing with OpenTelemetry: `Tracing.openTelemetry(provider)` sends spans to a tracer provider, and metrics to the meter
 * provider `metrics`.
 *
 * **Details**: the providers are those of OpenTelemetry's SDK, or of `@opentelemetry/api`. The option `context` is the
 * `context` of that API: with it the active span is the parent of a turn's span, and the span of a tool call is the active
 * span of its handler.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { Tracing } from "@troupe/chat/observe"
 * import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
 *
 * const exporter = new InMemorySpanExporter()
 * const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
 * const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), model: "m1" })
 * await Chat.run(engine, [user("Hello")], { tracing: Tracing.openTelemetry(provider) })
 * exporter.getFinishedSpans().map(({ name }) => name) // => ["chat m1", "step", "invoke_agent"]
 * ```
 */
export const Tracing = { openTelemetry }
