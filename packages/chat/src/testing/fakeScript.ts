/** The one interpreter of fake scripts. */
import type { Clock } from "@troupe/otp"
import type { AdapterOptions } from "../request/Adapter.ts"
import type { AdapterEvent } from "../events/Event.ts"
import { AdapterError, StreamError } from "../errors/ChatError.ts"
import type { Script, ScriptEntry } from "./Fake.ts"
import type { FinishReason } from "../model/Response.ts"
import { parseArguments } from "../model/ToolCall.ts"
import type { Usage } from "../model/Usage.ts"

type EventLine = Exclude<
  ScriptEntry,
  | { readonly text: string }
  | { readonly usage: Usage }
  | { readonly delayMs: number }
  | { readonly hang: true }
  | { readonly crash: unknown }
  | { readonly finish: FinishReason }
>

/** The events of one script, as a provider would send them; `release` runs when they end or are left. */
export async function* interpret(
  script: Script,
  { usage: reported, requestId }: { readonly usage?: Usage | undefined; readonly requestId?: string | undefined },
  options: AdapterOptions,
  clock: Clock.Clock,
  release: () => void
): AsyncGenerator<AdapterEvent, void> {
  let said: string | undefined
  let usage = reported
  try {
    yield {
      type: "message_started",
      message: { role: "assistant", content: "" },
      ...(requestId === undefined ? {} : { metadata: { requestId } })
    }
    for (const line of script) {
      if ("text" in line) {
        said = (said ?? "") + line.text
        yield { type: "text_delta", id: null, delta: line.text }
      } else if ("usage" in line) {
        usage = reported ?? line.usage
      } else if ("delayMs" in line) {
        await aborted(options.signal, clock, line.delayMs)
      } else if ("hang" in line) {
        await aborted(options.signal, clock)
      } else if ("crash" in line) {
        throw line.crash
      } else if ("finish" in line) {
        yield* closing(said, line.finish, usage)
        return
      } else {
        yield* eventsOf(line)
      }
    }
    yield* closing(said, null, usage)
  } finally {
    release()
  }
}

/** The lines that are events and nothing else. */
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

/** The text is completed if it was started, also an empty one (TEXT1). */
function* closing(
  said: string | undefined,
  finishReason: FinishReason | null,
  usage: Usage | undefined
): Generator<AdapterEvent, void> {
  if (said !== undefined) yield { type: "text_completed", id: null, text: said }
  yield {
    type: "message_completed",
    message: { role: "assistant", content: said ?? "" },
    finishReason,
    ...(usage === undefined ? {} : { usage })
  }
}

/** Resolves when the signal is aborted or the time is over; leaves neither timer nor listener behind. */
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
