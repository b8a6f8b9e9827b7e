/**
 * Spans of chats, steps, model requests and tool calls.
 *
 * | span                  | kind     | covers                                                                        |
 * | --------------------- | -------- | ----------------------------------------------------------------------------- |
 * | `invoke_agent <name>` | internal | a chat, or a turn of a living one, until its last event was taken             |
 * | `step`                | internal | one model request and the tools it asked for; `troupe.step.index` from 0      |
 * | `chat <model>`        | client   | one attempt of a model request, from its opening until its last event was read |
 * | `execute_tool <name>` | internal | one tool call, from the start of its handler to its outcome                   |
 *
 * Each is a child of the one above that it belongs to. Names and attributes are those of OpenTelemetry's conventions for
 * generative AI. A span ends with an error if what it covers failed (`error.type` says how), interrupted if it was
 * cancelled or its reader left.
 *
 * @module
 * @source OpenTelemetry, semantic conventions for generative AI
 */
import type * as Tracer from "effect/Tracer"

/**
 * Where spans go.
 *
 * - `tracer`: makes them; Effect's, so that any of its exporters works
 * - `parent`: the span they belong to, if they are part of something greater
 * - `agent`: the agent's name, `gen_ai.agent.name`
 * - `content`: whether messages, arguments and results are written on spans, too
 *
 * **Units and defaults**: `content` is `false`: what people say stays out of traces. Without tracing there is no cost.
 *
 * **Gotchas**: what a tracer throws is dropped.
 */
export interface Tracing {
  readonly tracer: Tracer.Tracer
  readonly parent?: Tracer.AnySpan | undefined
  readonly agent?: string | undefined
  readonly content?: boolean | undefined
}
