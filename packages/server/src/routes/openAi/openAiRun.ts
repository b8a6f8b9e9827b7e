/**
 * The requests of clients of OpenAI's protocols: their errors, and the runs that have no conversation.
 *
 * OPENAIRUN2. When a client leaves, its run ends. In a conversation only the reading ends (READERS1).
 * OPENAIRUN3. When the server closes, the run ends too: a whole answer with a 503, a stream with an error as its last data.
 */
import type { Event } from "@troupe/chat/events"
import { HttpError } from "../../errors/index.ts"
import { type Call, refused, SourceFrames } from "../../http/index.ts"
import type { Encoder, Protocol, Refusal } from "../../post/index.ts"
import { type OpenAiError, ofFailure, responseOf, unexpected } from "../../wire/openAi/index.ts"

type Run = AsyncIterableIterator<Event, undefined>

/** The run of a stream, once its first event came. Rejects with the reason of a refused request, before the answer begins. */
const opened = async (stream: Run): Promise<Run> => {
  let first: IteratorResult<Event, undefined> | undefined = await stream.next()
  const run: Run = {
    [Symbol.asyncIterator]: () => run,
    next: () => {
      const next = first === undefined ? stream.next() : Promise.resolve(first)
      first = undefined
      return next
    },
    return: async () => (await stream.return?.()) ?? { done: true, value: undefined }
  }
  return run
}

/** Answers with a run that has no conversation: it ends with its client (OPENAIRUN2). */
export const runAlone = async <Body>(
  { done, isWhole }: Pick<Protocol<Body, string>, "done" | "isWhole">,
  call: Call,
  body: Body,
  stream: Run,
  encoder: Encoder<string>,
  gone: AbortSignal
): Promise<Response> => {
  const run = await opened(stream)
  if (isWhole?.(body) === true) return whole(call, run, encoder, gone)
  const text = (items: ReadonlyArray<string>): string => items.join("")
  const frames = (signal: AbortSignal): AsyncIterable<string> => {
    signal.addEventListener(
      "abort",
      call.whenClosing(async () => run.return?.()),
      { once: true }
    )
    const item = (event: Event) => {
      const items = encoder.event(event)
      return items instanceof Promise ? items.then(text) : text(items)
    }
    return new SourceFrames(run, { item, failed: (error) => text(encoder.fail(error)) })
  }
  return call.stream(frames, {
    first: text(encoder.begin()),
    done,
    last: (why) => text(encoder.closing(why))
  })
}

/** Answers a request with `answer`, whose signal is aborted when the client is gone, and with errors of OpenAI's form. */
export const answered = async (call: Call, answer: (gone: AbortSignal) => Promise<Response>): Promise<Response> => {
  const gone = new AbortController()
  const leave = (): void => gone.abort(call.request.signal.reason)
  call.request.signal.addEventListener("abort", leave, { once: true })
  try {
    return await answer(gone.signal)
  } catch (error) {
    if (call.isFollowed(error)) throw error
    const failure: OpenAiError | undefined = ofFailure(error)
    if (failure === undefined) throw error
    return responseOf(failure)
  } finally {
    call.request.signal.removeEventListener("abort", leave)
  }
}

/** The error of a result that no call waits for. */
export const refusal = (why: Refusal): HttpError | undefined => {
  if (why.why === "no_wait") return refused("unknown_tool_call_id")
  if (why.why !== "not_waiting") return undefined
  return refused("unknown_tool_call_id", {
    issues: why.fields.map((field) => ({ field, reason: "no call waits for it" }))
  })
}

/** Reads a run to its end. Throws an `HttpError` (503) when the server closes first. */
const whole = async (call: Call, run: Run, encoder: Encoder<string>, gone: AbortSignal): Promise<Response> => {
  const leave = (): void => void run.return?.()
  gone.addEventListener("abort", leave, { once: true })
  const forget = call.whenClosing(async () => run.return?.())
  if (call.closing.aborted) leave()
  try {
    for await (const event of run) await encoder.event(event)
  } finally {
    forget()
    gone.removeEventListener("abort", leave)
  }
  const answer = encoder.body?.()
  if (answer === undefined && call.closing.aborted)
    throw new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 })
  return answer ?? responseOf(unexpected)
}
