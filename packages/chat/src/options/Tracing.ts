/**
 * Spans of chats, steps, model requests and tool calls.
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
 * was cancelled, or whose reader left, ends interrupted.
 *
 * @module
 * @source OpenTelemetry, semantic conventions for generative AI
 */
import type * as Tracer from "effect/Tracer"

/**
 * Where spans are sent.
 *
 * - `tracer`: creates them; an Effect tracer, so that all of its exporters work
 * - `parent`: the parent span, if there is one
 * - `agent`: the agent's name, `gen_ai.agent.name`
 * - `content`: whether spans include messages, arguments and results
 *
 * **Units and defaults**: `content` is `false`: messages stay out of traces. Without tracing there is no cost.
 *
 * **Gotchas**: exceptions of a tracer are swallowed.
 */
export interface Tracing {
  readonly tracer: Tracer.Tracer
  readonly parent?: Tracer.AnySpan | undefined
  readonly agent?: string | undefined
  readonly content?: boolean | undefined
}
