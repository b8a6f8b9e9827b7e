/** The option `tracing`: where spans and measurements are sent, and what they contain. */
import type * as Tracer from "effect/Tracer"
import type { Attributes, Metric } from "./genAi.ts"

/** An agent, as traces name it; `name` is also the name of its spans. */
interface Agent {
  readonly name: string
  readonly id?: string | undefined
  readonly description?: string | undefined
  readonly version?: string | undefined
}

/**
 * Where spans and measurements are sent.
 *
 * **Gotchas**: exceptions of a tracer, and of `record`, change no run: each is a report of the system's `logger`.
 */
export interface Tracing {
  /** The span above the spans of a run. Default: none, or the active span of a `context`. */
  readonly parent?: Tracer.AnySpan | undefined
  /** The agent's name, `gen_ai.agent.name`; or its name, id, description and version. Default: none. */
  readonly agent?: string | Agent | undefined
  /** Whether spans have messages, arguments, results and the texts of errors. Default: `false`, messages stay out of traces. */
  readonly content?: boolean | undefined
  /** Creates spans; an Effect tracer, so that all of its exporters work. */
  readonly tracer: Tracer.Tracer
  /** Called with each measurement of a metric. Default: nothing is measured. */
  readonly record?: ((metric: Metric, value: number, attributes: Attributes) => void) | undefined
}

/** A tracer whose spans begin with their attributes, so that its sampler sees them. */
export interface SamplingTracer extends Tracer.Tracer {
  readonly begin: (options: Parameters<Tracer.Tracer["span"]>[0], attributes: Attributes) => Tracer.Span
}

/** Begins a span with its attributes. */
export const beginSpan = (
  tracer: Tracer.Tracer | SamplingTracer,
  options: Parameters<Tracer.Tracer["span"]>[0],
  attributes: Attributes
): Tracer.Span => {
  if ("begin" in tracer) return tracer.begin(options, attributes)
  const span = tracer.span(options)
  write(span, attributes)
  return span
}

/** Adds attributes to a span. */
export const write = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [key, value] of Object.entries(attributes)) span.attribute(key, value)
}
