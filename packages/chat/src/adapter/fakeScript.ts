/** The interpreter of fake scripts. */
import type { Clock } from "@troupe/otp"
import type { AdapterOptions } from "./Adapter.ts"
import type { AdapterEvent } from "../events/index.ts"
import { AdapterError, type AdapterErrorReason, StreamError, type StreamErrorReason } from "../errors/index.ts"
import { type AssistantPart, type FinishReason, parseArguments, type Usage } from "../model/index.ts"

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
export async function* interpret(
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
export type ScriptEntry =
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
