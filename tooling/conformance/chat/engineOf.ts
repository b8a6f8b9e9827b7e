/** Builds a case's engine, its scripted adapter and its options. */
import { Engine, Fake } from "@troupe/chat"
import type { ChatOptions } from "@troupe/chat/chats"
import { AdapterError, StreamError } from "@troupe/chat/errors"
import { type Adapter, Retry } from "@troupe/chat/models"
import { encoderOf, executorOf, listenerOf, type Observations, policyOf, predicateOf, toolOf } from "./behaviours.ts"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../runner/fields.ts"
import { retryOf } from "./operations/retryOperations.ts"
import { camel, construct, renamed, snake, usageOf } from "./values/plain.ts"

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
  const fake = kind === "fake" ? fakeOf(given, seen) : undefined
  const adapter = noted(fake ?? others[textOf(kind)], seen)
  const engine = Engine.make({
    ...(present({ adapter, context, model }) as object),
    tools: listOf(tools).map((tool) => toolOf(tool, seen, value)),
    params: renamedParams(fieldsOf(params)),
    retry: isWrittenForRetries(given) ? atOnce : false,
    ...(isFields(executor) ? { toolExecutor: executorOf(executor, seen) } : {}),
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
export const fakeOf = (given: Fields, { clock }: Observations, cursor?: { next: number }): Fake.Fake => {
  const { script, scripts, stream_script: streamed, script_cursor: cursorKind, usage, request_id: requestId } = given
  const own = cursorKind === "new" || cursorKind === "shared"
  return Fake.make({
    clock,
    ...saying(script, scripts, streamed),
    ...present({ cursor: own ? (cursor ?? { next: 0 }) : cursorKind }),
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
    ...(requestId === undefined ? {} : { requestId: textOf(requestId) })
  } as object as Parameters<typeof Fake.make>[0])
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

type Entries = ReadonlyArray<Fake.Script[number]>

const entriesOf = (value: unknown): Entries => {
  const [kind = "", operand] = Object.entries(fieldsOf(value))[0] ?? []
  return entries[kind]?.(operand) ?? [value as never]
}

const said = (text: unknown): Entries => [{ text: textOf(text) }]
const waiting = (ms: unknown): Entries => [{ delayMs: Number(ms) }]
const refusing = (error: unknown): Entries => [{ preflightError: adapterError(error) }]

/** The lines of a script, by the key of an entry; another key is an unknown line, which is refused. */
const entries: Readonly<Record<string, (operand: unknown) => Entries>> = {
  text: said,
  text_delta: said,
  tool_call: (operand) => {
    const { id, name, arguments: args, raw_arguments: raw } = fieldsOf(operand)
    const rest = { arguments: args === undefined ? undefined : fieldsOf(args), rawArguments: raw as string | undefined }
    return [{ toolCall: { id: textOf(id), name: textOf(name), ...present(rest) } }]
  },
  tool_call_delta: (operand) => {
    const { id, arguments_delta: argumentsDelta } = fieldsOf(operand)
    return [{ toolCallDelta: { id: textOf(id), argumentsDelta: textOf(argumentsDelta) } }]
  },
  usage: (operand) => [{ usage: usageOf(operand) }],
  raw_chunk: (operand) => [{ rawChunk: construct(operand) }],
  error: (operand) => [{ error: construct(operand) }],
  finish: (operand) => [{ finish: operand as never }],
  delay: waiting,
  sleep: waiting,
  harness_error: refusing,
  preflight_error: refusing,
  error_event: (operand) => [{ error: adapterError(operand) }],
  stream_error: (operand) => [{ streamError: new StreamError(listOf(operand)[0] as never).reason }],
  ok: (operand) => wholeResponse(fieldsOf(operand))
}

const adapterError = (value: unknown): AdapterError => {
  const [reason, fields] = listOf(value)
  return new AdapterError(reason as never, { provider: "fake", ...renamed(fieldsOf(fields), camel) })
}

/** A response given in one piece, as the lines that add up to it. */
const wholeResponse = ({
  output_text: text,
  tool_calls: calls,
  usage,
  finish_reason: reason = "stop"
}: Fields): Entries => [
  ...(typeof text === "string" ? [{ text }] : []),
  ...listOf(calls).flatMap((call) => entriesOf({ tool_call: call })),
  ...(usage === undefined ? [] : [{ usage: usageOf(usage) }]),
  { finish: (reason ?? "stop") as never }
]

/** Options that are the same under our names. */
const plain: ReadonlySet<string> = new Set(
  (
    "mode model max_turns max_concurrency context session_id request_id response_format structured_finalize " +
    "structured_finalize_nudge emit_text_deltas emit_tool_deltas include_raw_chunks tool_choice max_tokens temperature"
  ).split(" ")
)

/** The provider's parameters, which our options have in a field of their own. */
const providers: ReadonlySet<string> = new Set(["top_p", "reasoning_effort", "reasoning_summary", "verbosity"])

type Translation = (option: unknown, seen: Observations) => readonly [name: string, value: unknown]

/** Options under another name, or of another type. */
const translations: Readonly<Record<string, Translation>> = {
  halt_when: (option) => ["haltWhen", predicateOf(option)],
  on_tool_error: (option, seen) => ["onToolError", policyOf(option, seen)],
  on_event: (option, seen) => ["onEvent", listenerOf(option, seen)],
  tool_timeout: (option) => ["toolTimeoutMs", option === "infinity" ? Infinity : option],
  tool_executor: (option, seen) => ["toolExecutor", executorOf(option, seen)],
  tool_result_encoder: (option) => ["toolResultEncoder", encoderOf(option)],
  tools: (option, seen) => ["tools", listOf(option).map((tool) => toolOf(tool, seen))],
  retry: (option) => ["retry", retryOf(option)],
  adapter_opts: (option) => ["adapterOptions", option]
}

/** The options of a case; an unknown one is passed on and refused. */
export const optionsOf = (value: unknown, seen: Observations): ChatOptions => {
  // The key belongs to the adapter, as in the reference.
  const { api_key: apiKey, ...given } = fieldsOf(value)
  const named = Object.entries(given).filter(([key]) => !providers.has(key))
  const options = Object.fromEntries(
    named.map(([key, option]) =>
      plain.has(key)
        ? [camel(key), option ?? undefined]
        : (translations[key]?.(option, seen) ?? [camel(key), construct(option)])
    )
  )
  const body = Object.entries(given).filter(([key]) => providers.has(key))
  return {
    system: seen.system,
    ...options,
    ...(apiKey === undefined ? {} : { adapterOptions: { ...fieldsOf(options["adapterOptions"]), apiKey } }),
    ...(body.length === 0 ? {} : { providerOptions: Object.fromEntries(body) })
  }
}
