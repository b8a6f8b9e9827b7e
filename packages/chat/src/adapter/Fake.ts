/**
 * The scripted adapter: a fake model that sends scripted replies.
 *
 * @module
 * @source ALLM.Providers.Fake
 */
import { Clock } from "@troupe/otp"
import type { Adapter, AdapterOptions } from "./Adapter.ts"
import {
  AdapterError,
  type Finding,
  ValidationError,
  type AdapterErrorReason,
  StreamError,
  type StreamErrorReason
} from "../errors/index.ts"
import { isNote } from "../compaction/index.ts"
import { type Request, Usage, type AssistantPart, type FinishReason, parseArguments } from "../model/index.ts"
import type { AdapterEvent } from "../events/index.ts"

/**
 * The replies of a fake.
 *
 * - `script`: the same reply to every request
 * - `scripts`: one reply per request, in order; a further request is a `no_scripted_response` error
 * - `respond`: computes the reply from the request, without the note that a Troupe adds at the end of some requests (NOTE1): a script that
 *   answers the last message needs no line for it. `requests` has it
 */
type FakeOptions = (
  | { readonly script: Script }
  | { readonly scripts: ReadonlyArray<Script>; readonly cursor?: { next: number } | undefined }
  | { readonly respond: (request: Request, call: number) => Script }
) & {
  /** Reported on every request; takes precedence over a script's own. */
  readonly usage?: Usage | undefined
  /** The provider's own id of every request, reported in its response. */
  readonly requestId?: string | undefined
  /** The clock of `delayMs`. Default: the real clock; a test clock makes delays instant. */
  readonly clock?: Clock.Clock | undefined
}

/** A fake adapter and the requests it received. */
export interface Fake extends Adapter {
  /** Every request, in order. */
  readonly requests: ReadonlyArray<Request>
  /** Streams opened and not yet released. */
  readonly open: number
  /** Streams released, each once. */
  readonly released: number
}

/**
 * Makes a scripted adapter.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid scripts, an invalid cursor, and unknown usage
 * fields.
 *
 * @example
 * ```ts
 * const adapter = Fake.make({
 *   scripts: [
 *     [{ toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } }, { finish: "tool_calls" }],
 *     [{ text: "done" }, { finish: "stop" }]
 *   ]
 * })
 * ```
 */
export const make = (options: FakeOptions): Fake => {
  check(options)
  const requests: Array<Request> = []
  const cursor: { next: number } = "scripts" in options ? (options.cursor ?? { next: 0 }) : { next: 0 }
  let open = 0
  let released = 0
  const script = (request: Request): Script | undefined => {
    if ("script" in options) return options.script
    if ("respond" in options) return options.respond(withoutNote(request), requests.length - 1)
    return options.scripts[cursor.next++]
  }
  return {
    name: "fake",
    get requests() {
      return requests
    },
    get open() {
      return open
    },
    get released() {
      return released
    },
    stream: (request: Request, adapterOptions: AdapterOptions): AsyncIterable<AdapterEvent> => {
      requests.push(request)
      const lines = script(request)
      if (lines === undefined) {
        throw new AdapterError("no_scripted_response", {
          provider: "fake",
          message: `The fake adapter has no script for request ${requests.length}; add one to \`scripts\``
        })
      }
      const refusal = lines[0]
      if (refusal !== undefined && "preflightError" in refusal) {
        const { preflightError, retryAfterMs } = refusal
        throw preflightError instanceof AdapterError
          ? preflightError
          : new AdapterError(preflightError, { provider: "fake", retryAfterMs })
      }
      open++
      let live = true
      const release = () => {
        if (!live) return
        live = false
        open--
        released++
      }
      return releasedOnReturn(interpret(lines, options, adapterOptions, options.clock ?? Clock.live, release), release)
    }
  }
}

const withoutNote = (request: Request): Request => {
  const last = request.messages.at(-1)
  return last !== undefined && isNote(last) ? { ...request, messages: request.messages.slice(0, -1) } : request
}

/** A generator that was never started runs no `finally` when it is returned, so this calls `release` itself. */
const releasedOnReturn = (
  events: AsyncGenerator<AdapterEvent, void>,
  release: () => void
): AsyncIterable<AdapterEvent> => {
  let started = false
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        started = true
        return events.next()
      },
      return: () => {
        if (!started) release()
        return events.return()
      }
    })
  }
}

const check = (options: FakeOptions): void => {
  const found: Array<Finding> = []
  const { script, scripts, respond, cursor } = (options ?? {}) as Readonly<Record<string, unknown>>
  const said = script === undefined ? scripts : [script]
  if (script !== undefined && scripts !== undefined) found.push({ field: ["script"], reason: "one_of script, scripts" })
  if (script !== undefined && !Array.isArray(script)) found.push({ field: ["script"], reason: "must_be_a_list" })
  else if (said !== undefined && !(Array.isArray(said) && said.every((one) => Array.isArray(one)))) {
    found.push({ field: ["scripts"], reason: "must_be_a_list of scripts" })
  }
  if (said === undefined && typeof respond !== "function") {
    found.push({ field: [], reason: "one_of script, scripts, respond" })
  }
  if (cursor !== undefined && !isCursor(cursor)) {
    found.push({ field: ["cursor"], reason: "must_be a cursor" })
  }
  const lines = found.length === 0 && Array.isArray(said) ? (said as ReadonlyArray<Script>).flat() : []
  for (const line of lines) {
    if (!isLine(line)) found.push({ field: ["script"], reason: `must_be lines of one of ${words.join(", ")}` })
    else if ("usage" in line && !isUsage(line.usage)) {
      found.push({ field: ["usage"], reason: "unknown_field" })
    }
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const words: ReadonlyArray<string> = [
  "text",
  "reasoning",
  "toolCall",
  "toolCallDelta",
  "rawChunk",
  "usage",
  "error",
  "streamError",
  "preflightError",
  "delayMs",
  "hang",
  "crash",
  "finish"
]

const isLine = (line: unknown): line is ScriptEntry =>
  typeof line === "object" && line !== null && words.some((word) => word in line)

const isCursor = (value: unknown): value is { next: number } =>
  typeof value === "object" && value !== null && "next" in value && Number.isInteger(value.next)

/** Whether a value is a usage, with fields of a usage only. */
const isUsage = (value: object): boolean => {
  const { data } = Usage.safeParse(value)
  return data !== undefined && Object.keys(data).length === Object.keys(value).length
}

type EventLine = Exclude<
  ScriptEntry,
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly usage: Usage }
  | { readonly delayMs: number }
  | { readonly hang: true }
  | { readonly crash: unknown }
  | { readonly finish: FinishReason }
>

/** The events of one script, as a provider would send them; `release` is called when they end or the reader leaves. */
async function* interpret(
  script: Script,
  { usage: reported, requestId }: { readonly usage?: Usage | undefined; readonly requestId?: string | undefined },
  options: AdapterOptions,
  clock: Clock.Clock,
  release: () => void
): AsyncGenerator<AdapterEvent, void> {
  let said: string | undefined
  let usage = reported
  const parts: Array<AssistantPart> = []
  try {
    yield {
      type: "message_started",
      message: { role: "assistant", content: "" },
      ...(requestId === undefined ? {} : { metadata: { requestId } })
    }
    for (const line of script) {
      if ("text" in line) {
        said = (said ?? "") + line.text
        grow(parts, "text", line.text)
        yield { type: "text_delta", id: null, delta: line.text }
      } else if ("reasoning" in line) {
        grow(parts, "reasoning", line.reasoning)
        yield { type: "reasoning_delta", id: String(parts.length - 1), delta: line.reasoning }
      } else if ("usage" in line) {
        usage = reported ?? line.usage
      } else if ("delayMs" in line) {
        await aborted(options.signal, clock, line.delayMs)
      } else if ("hang" in line) {
        await aborted(options.signal, clock)
      } else if ("crash" in line) {
        throw line.crash
      } else if ("finish" in line) {
        yield* closing(said, line.finish, usage, parts)
        return
      } else {
        if ("toolCall" in line) parts.push({ type: "tool_call", toolCallId: line.toolCall.id })
        yield* eventsOf(line)
      }
    }
    yield* closing(said, null, usage, parts)
  } finally {
    release()
  }
}

/** Adds to the newest part, or begins one. */
const grow = (parts: Array<AssistantPart>, type: "text" | "reasoning", delta: string): void => {
  const last = parts.at(-1)
  if (last?.type === type) parts[parts.length - 1] = { type, text: last.text + delta }
  else parts.push({ type, text: delta })
}

/** The events of a line that only sends events. */
function* eventsOf(line: EventLine): Generator<AdapterEvent, void> {
  if ("toolCall" in line) {
    const { id, name } = line.toolCall
    const rawArguments = line.toolCall.rawArguments ?? JSON.stringify(line.toolCall.arguments ?? {})
    yield { type: "tool_call_started", id, name }
    yield { type: "tool_call_completed", id, name, arguments: parseArguments(rawArguments), rawArguments }
  } else if ("toolCallDelta" in line) {
    yield { type: "tool_call_delta", ...line.toolCallDelta }
  } else if ("rawChunk" in line) {
    yield { type: "raw_chunk", chunk: line.rawChunk }
  } else if ("streamError" in line) {
    yield { type: "error", error: new StreamError(line.streamError) }
  } else {
    yield { type: "error", error: scriptedError("error" in line ? line.error : line.preflightError) }
  }
}

/** Completes the text if it was started, even an empty one (TEXT1). */
function* closing(
  said: string | undefined,
  finishReason: FinishReason | null,
  usage: Usage | undefined,
  parts: ReadonlyArray<AssistantPart>
): Generator<AdapterEvent, void> {
  const isMore = parts.some(({ type }) => type === "reasoning")
  if (said !== undefined) yield { type: "text_completed", id: null, text: said }
  yield {
    type: "message_completed",
    message: { role: "assistant", content: said ?? "", ...(isMore ? { parts } : {}) },
    finishReason,
    ...(usage === undefined ? {} : { usage })
  }
}

/** Resolves when the signal is aborted or the time is over; removes its timer and its listener. */
const aborted = (signal: AbortSignal, clock: Clock.Clock, afterMs?: number): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clock.clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = afterMs === undefined ? undefined : clock.setTimeout(done, afterMs)
    signal.addEventListener("abort", done)
  })

const scriptedError = (term: unknown): AdapterError => {
  if (term instanceof AdapterError) return term
  return AdapterError.isReason(term)
    ? new AdapterError(term, { provider: "fake" })
    : new AdapterError("unknown", { provider: "fake", message: "A scripted error", cause: term })
}

/**
 * One line of a script. A script ends at its `finish`; what follows is never read.
 *
 * - `text`: a text delta
 * - `reasoning`: a fragment of reasoning; the message of the reply has its parts then
 * - `toolCall`: a whole call; `rawArguments` overrides the JSON text of `arguments`
 * - `toolCallDelta`: a fragment of a call's argument text
 * - `rawChunk`: a provider-specific chunk
 * - `usage`: the usage reported with the end of the message
 * - `error`: an `error` event: an `AdapterError`, the reason of one, or any value as the cause of an `unknown` one
 * - `streamError`: an `error` event of the transport
 * - `preflightError`, as the first line: the request is refused before a stream opens, with an `AdapterError` or the reason
 *   of one
 * - `delayMs`: milliseconds to wait before the next line
 * - `hang`: never continues; only a cancel ends it
 * - `crash`: the stream throws
 * - `finish`: the finish reason
 */
type ScriptEntry =
  | { readonly text: string }
  | { readonly reasoning: string }
  | {
      readonly toolCall: {
        readonly id: string
        readonly name: string
        readonly arguments?: Record<string, unknown>
        readonly rawArguments?: string
      }
    }
  | { readonly toolCallDelta: { readonly id: string; readonly argumentsDelta: string } }
  | { readonly rawChunk: unknown }
  | { readonly usage: Usage }
  | { readonly error: unknown }
  | { readonly streamError: StreamErrorReason }
  | { readonly preflightError: AdapterErrorReason | AdapterError; readonly retryAfterMs?: number }
  | { readonly delayMs: number }
  | { readonly hang: true }
  | { readonly crash: unknown }
  | { readonly finish: FinishReason }

/** The reply of the model to one request. */
export type Script = ReadonlyArray<ScriptEntry>
