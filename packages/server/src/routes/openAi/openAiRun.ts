/**
 * A run that answers a client of OpenAI's protocols, read as a whole or streamed.
 *
 * OPENAIRUN2. When a client leaves, its run ends. In a conversation only the reading ends (READERS1).
 * OPENAIRUN3. When the server closes, the run ends too: a whole answer with a 503, a stream with an error as its last data.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { HttpError } from "../../errors/index.ts"
import { type Call, clientHasLeft, type TurnRead } from "../../http/index.ts"
import { eventsOf } from "../../link/index.ts"
import type { Encoder, Protocol } from "../../post/index.ts"
import { type OpenAiError, ofFailure, responseOf, unexpected } from "../../wire/openAi/index.ts"
import { eventsWithImages } from "./replyImages.ts"

/** The events of a run, and the turn of a conversation that it is. */
export interface Run {
  readonly events: AsyncIterableIterator<Event, undefined>
  readonly reads?: TurnRead
}

/**
 * The run of a turn, once the chat has its input. `name` is that of the turn for the next home (FORWARD9). Rejects with the reason of a
 * refused input.
 */
export const begun = async (call: Call, chat: LocalChatRef, turn: LiveTurn, name = turn.id): Promise<Run> => {
  await call.accepted(chat, turn, name)
  return { events: eventsWithImages(call, chat, eventsOf(chat, turn)), reads: { chat, turn } }
}

/** The run of a stream, once its first event came. Rejects with the reason of a refused request, before the answer begins. */
export const opened = async (stream: Run["events"]): Promise<Run> => {
  let first: IteratorResult<Event, undefined> | undefined = await stream.next()
  const events: Run["events"] = {
    [Symbol.asyncIterator]: () => events,
    next: () => {
      const next = first === undefined ? stream.next() : Promise.resolve(first)
      first = undefined
      return next
    },
    return: async () => (await stream.return?.()) ?? { done: true, value: undefined }
  }
  return { events }
}

/** Answers with a run that has no conversation: it ends with its client (OPENAIRUN2). */
export const runAlone = async <Body>(
  { closing, done = "", isWhole }: Pick<Protocol<Body, string>, "closing" | "done" | "isWhole">,
  call: Call,
  body: Body,
  stream: Run["events"],
  encoder: Encoder<string>,
  gone: AbortSignal
): Promise<Response> => {
  const run = await opened(stream)
  if (isWhole?.(body) !== true) return streamedRun(call, run, () => framesOf(run, encoder, done), closing)
  let answer: Response | undefined
  await readWhole(call, run, encoder.event, () => (answer = encoder.body?.()) !== undefined, gone)
  return answer ?? encoder.body?.() ?? responseOf(unexpected)
}

async function* framesOf(
  { events }: Run,
  { begin, event, fail }: Encoder<string>,
  done: string
): AsyncGenerator<string, void> {
  try {
    yield begin().join("")
    for await (const one of events) {
      const frames = (await event(one)).join("")
      if (frames !== "") yield frames
    }
  } catch (error) {
    yield fail(error).join("")
  } finally {
    await events.return?.()
  }
  yield done
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

/** Reads a run to its end; `isOver` is whether that end was read. Throws an `HttpError` (503) when the server closes first. */
export const readWhole = async (
  call: Call,
  { events, reads }: Run,
  push: (event: Event) => unknown,
  isOver: () => boolean,
  gone: AbortSignal
): Promise<void> => {
  const leave = (): void => void events.return?.()
  gone.addEventListener("abort", leave, { once: true })
  const forget = call.whenClosing(async () => events.return?.())
  const left = reads === undefined ? undefined : call.readers.read(reads)
  if (call.closing.aborted) leave()
  try {
    for await (const event of events) push(event)
  } finally {
    forget()
    left?.(clientHasLeft(gone))
    gone.removeEventListener("abort", leave)
  }
  if (call.closing.aborted && !isOver()) {
    throw new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 })
  }
}

/** Streams the frames of a run, which is returned when the stream is over. */
export const streamedRun = (
  call: Call,
  { events, reads }: Run,
  frames: () => AsyncIterable<string>,
  last: (why: HttpError) => string
): Response =>
  call.stream(
    (signal) => {
      const forget = call.whenClosing(async () => events.return?.())
      // A reader that leaves before its first frame never starts the frames: this listener ends the run.
      const over = (): void => {
        forget()
        void events.return?.()
      }
      signal.addEventListener("abort", over, { once: true })
      return frames()
    },
    { last, reads }
  )
