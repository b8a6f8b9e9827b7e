/** Builds a case's engine, its scripted adapter and its options. */
import { Engine, Fake } from "@troupe/chat"
import type { ChatOptions } from "@troupe/chat/chats"
import { AdapterError, StreamError } from "@troupe/chat/errors"
import { type Adapter, Retry } from "@troupe/chat/models"
import { encoderOf, executorOf, listenerOf, type Observations, policyOf, predicateOf, toolOf } from "./behaviours.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import { construct, usageOf } from "./values/fromNeutral.ts"
import { camel, present, renamed, snake } from "./values/naming.ts"
import { policyOf as retryOf } from "./operations/retryOperations.ts"

/** An engine, and its fake if it has one. */
export interface CaseEngine {
  readonly engine: Engine.Engine
  readonly fake: Fake.Fake | undefined
}

const others: Readonly<Record<string, Adapter.Adapter>> = {
  non_stream: { name: "non_stream" } as Adapter.Adapter,
  recording: {
    name: "recording",
    stream: async function* () {
      yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
    }
  }
}

/** The engine of a case. */
export const engineOf = (value: unknown, seen: Observations): CaseEngine => {
  const given = fieldsOf(value)
  const { adapter: kind, tools, context, params, model, tool_executor: executor, tool_result_encoder: encoder } = given
  const fake = kind === "fake" ? fakeOf(given) : undefined
  const adapter = noted(fake ?? others[textOf(kind)], seen)
  const engine = Engine.make({
    ...present({ adapter, context, model }),
    tools: listOf(tools).map((tool) => toolOf(tool, seen, value)),
    params: renamedParams(fieldsOf(params)),
    retry: isWrittenForRetries(given) ? atOnce : false,
    ...(isFields(executor) ? { toolExecutor: executorOf(executor) } : {}),
    ...(encoder === undefined ? {} : { toolResultEncoder: encoderOf(encoder) })
  })
  return { engine, fake }
}

/** Wraps the adapter, and records the options of each request. */
const noted = (adapter: Adapter.Adapter | undefined, seen: Observations): Adapter.Adapter | undefined =>
  typeof adapter?.stream === "function"
    ? {
        name: adapter.name,
        stream: (request, options) => {
          const { requestId, adapterOptions } = options
          seen.adapterOptions = { request_id: requestId, adapter_opts: renamed(adapterOptions, snake) }
          return adapter.stream(request, options)
        }
      }
    : adapter

/** Retries without delays. */
const atOnce = { baseDelayMs: 0, jitterMs: 0 } as const

/**
 * The reference never retried a step. A case that counts requests, or refuses only once, expects one attempt for each
 * request. A case with a refusal for each attempt is retried.
 */
const isWrittenForRetries = ({ script, scripts, record }: Fields): boolean => {
  if (record === true) return false
  if (script !== undefined) return true
  const refusals = listOf(scripts)
    .map((one) => JSON.stringify(fieldsOf(listOf(one)[0])["preflight_error"]))
    .filter((refusal) => refusal !== undefined)
  return refusals.every((refusal) => refusals.filter((other) => other === refusal).length >= Retry.defaults.maxAttempts)
}

/** The parameters of the loop, or with a field of their own; others are the provider's, under its names. */
const known: ReadonlySet<string> = new Set(["max_turns", "max_tokens", "temperature"])

const renamedParams = (params: Fields): Fields => renamed(params, (name) => (known.has(name) ? camel(name) : name))

/** The scripted adapter of a case in its streaming form, since our adapters always stream. */
export const fakeOf = (given: Fields, cursor?: { next: number }): Fake.Fake => {
  const { script, scripts, stream_script: streamed, script_cursor: cursorKind, usage, request_id: requestId } = given
  const own = cursorKind === "new" || cursorKind === "shared"
  return Fake.make({
    ...saying(script, scripts, streamed),
    ...present({ cursor: own ? (cursor ?? { next: 0 }) : cursorKind }),
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
    ...(requestId === undefined ? {} : { requestId: textOf(requestId) })
  } as Parameters<typeof Fake.make>[0])
}

const saying = (script: unknown, scripts: unknown, streamed: unknown): Fields => {
  if (Array.isArray(streamed)) return Array.isArray(streamed[0]) ? many(streamed) : { script: scriptOf(streamed) }
  const one = script ?? streamed
  if (one === undefined) return many(scripts ?? [])
  return { script: scriptOf(one), ...(scripts === undefined ? {} : many(scripts)) }
}

const many = (scripts: unknown): Fields => ({ scripts: Array.isArray(scripts) ? scripts.map(scriptOf) : scripts })

/** A script; a value that is no list is returned unchanged. */
export const scriptOf = (value: unknown): Fake.Script =>
  Array.isArray(value) ? value.flatMap(entriesOf) : (value as never)

const entriesOf = (value: unknown): ReadonlyArray<Fake.Script[number]> => {
  const [kind, operand] = Object.entries(fieldsOf(value))[0] ?? ["unknown", value]
  switch (kind) {
    case "text":
    case "text_delta":
      return [{ text: textOf(operand) }]
    case "tool_call": {
      const { id, name, arguments: args, raw_arguments: raw } = fieldsOf(operand)
      return [
        {
          toolCall: {
            id: textOf(id),
            name: textOf(name),
            ...(args === undefined ? {} : { arguments: fieldsOf(args) }),
            ...(raw === undefined ? {} : { rawArguments: textOf(raw) })
          }
        }
      ]
    }
    case "tool_call_delta": {
      const { id, arguments_delta: argumentsDelta } = fieldsOf(operand)
      return [{ toolCallDelta: { id: textOf(id), argumentsDelta: textOf(argumentsDelta) } }]
    }
    case "usage":
      return [{ usage: usageOf(operand) }]
    case "raw_chunk":
      return [{ rawChunk: construct(operand) }]
    case "error":
      return [{ error: construct(operand) }]
    case "finish":
      return [{ finish: operand as never }]
    case "delay":
    case "sleep":
      return [{ delayMs: Number(operand) }]
    case "harness_error":
    case "preflight_error":
      return [{ preflightError: adapterError(operand) }]
    case "error_event":
      return [{ error: adapterError(operand) }]
    case "stream_error":
      return [{ streamError: new StreamError(listOf(operand)[0] as never).reason }]
    case "ok":
      return wholeResponse(fieldsOf(operand))
    default:
      return [value as never]
  }
}

const adapterError = (value: unknown): AdapterError => {
  const [reason, fields] = listOf(value)
  return new AdapterError(reason as never, { provider: "fake", ...renamed(fieldsOf(fields), camel) })
}

/** A response given in one piece, as the lines that add up to it. */
const wholeResponse = ({
  output_text: said,
  tool_calls: calls,
  usage,
  finish_reason: reason
}: Fields): ReadonlyArray<Fake.Script[number]> => [
  ...(typeof said === "string" ? [{ text: said }] : []),
  ...listOf(calls).flatMap((call) => entriesOf({ tool_call: call })),
  ...(usage === undefined ? [] : [{ usage: usageOf(usage) }]),
  { finish: (reason ?? "stop") as never }
]

const plain: ReadonlySet<string> = new Set([
  "mode",
  "model",
  "max_turns",
  "max_concurrency",
  "context",
  "session_id",
  "request_id",
  "response_format",
  "structured_finalize",
  "structured_finalize_nudge",
  "emit_text_deltas",
  "emit_tool_deltas",
  "include_raw_chunks",
  "tool_choice",
  "max_tokens",
  "temperature"
])

/** The provider's parameters, which our options have in a field of their own. */
const providers: ReadonlySet<string> = new Set(["top_p", "reasoning_effort", "reasoning_summary", "verbosity"])

/** The options of a case; an unknown one is passed on and refused. */
export const optionsOf = (value: unknown, seen: Observations): ChatOptions => {
  const options: Record<string, unknown> = {}
  const body: Record<string, unknown> = {}
  for (const [key, option] of Object.entries(fieldsOf(value))) {
    if (plain.has(key)) options[camel(key)] = option ?? undefined
    else if (providers.has(key)) body[key] = option
    else if (key === "halt_when") options["haltWhen"] = predicateOf(option)
    else if (key === "on_tool_error") options["onToolError"] = policyOf(option, seen)
    else if (key === "on_event") options["onEvent"] = listenerOf(option, seen)
    else if (key === "tool_timeout") options["toolTimeoutMs"] = option === "infinity" ? Infinity : option
    else if (key === "tool_executor") options["toolExecutor"] = executorOf(option)
    else if (key === "tool_result_encoder") options["toolResultEncoder"] = encoderOf(option)
    else if (key === "tools") options["tools"] = listOf(option).map((tool) => toolOf(tool, seen))
    else if (key === "retry") options["retry"] = retryOf(option)
    else if (key === "adapter_opts") options["adapterOptions"] = option
    // The key belongs to the adapter, as in the reference.
    else if (key === "api_key") options["adapterOptions"] = { ...fieldsOf(options["adapterOptions"]), apiKey: option }
    else options[camel(key)] = construct(option)
  }
  return { ...options, ...(Object.keys(body).length === 0 ? {} : { providerOptions: body }) }
}
