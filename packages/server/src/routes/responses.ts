/** Responses of this server's own routes. */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult, ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import { ChatView } from "@troupe/chat/view"
import { bodyOf, HttpError } from "../errors/index.ts"
import { type Call, clientHasLeft, type Frames, refusalOf, refused, type TurnRead } from "../http/index.ts"
import {
  begunTurn,
  contextAt,
  dataChanges,
  eventText,
  type Follower,
  isCut,
  isRepeated,
  ofChat,
  ofTurn,
  resultText,
  withChanges,
  writtenDataOf
} from "../wire/index.ts"

/** The media types of the own routes. */
export const json = "application/json"
export const events = "text/event-stream"

/** Whether the client accepts an event stream. */
const asksForEvents = ({ request }: Call): boolean => request.headers.get("accept")?.includes(events) ?? false

/** A response of JSON text. */
const jsonText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { "content-type": json } })

/** A frame of server-sent events. With `id` a client resumes after it. */
export const frame = (text: string, id?: string): string =>
  id === undefined ? `data: ${text}\n\n` : `id: ${id}\ndata: ${text}\n\n`

/** The last frame of a stream that the server ends. */
export const lastFrame = (why: HttpError): string =>
  why.code === "closing" ? frame(JSON.stringify({ type: "closing" })) : failedText({ bodyOf }, why)

const over: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** The last frame of a refusal. Throws an unexpected error. */
const failedFrame = (call: Pick<Call, "bodyOf" | "cutIfMoved">, error: unknown): string => {
  call.cutIfMoved(error)
  const refusal = refusalOf(error)
  if (refusal === undefined) throw error
  return failedText(call, refusal)
}

const failedText = (call: Pick<Call, "bodyOf">, refusal: HttpError): string =>
  frame(JSON.stringify({ type: "failed", ...call.bodyOf(refusal) }))

/**
 * The frames of a source. A refusal becomes the last frame; an unexpected error breaks the stream. Leaving returns the
 * source at once, also while its next item is awaited.
 */
export const framesOf = <A>(
  call: Pick<Call, "bodyOf" | "cutIfMoved">,
  source: AsyncIterator<A, undefined>,
  frameOf: (item: A) => string
): AsyncIterable<string> => ({
  [Symbol.asyncIterator]: () => {
    let failed = false
    const framed = ({ done, value }: IteratorResult<A, undefined>): IteratorResult<string, undefined> =>
      done === true ? { done, value } : { done: false, value: frameOf(value) }
    const refusal = (error: unknown): IteratorResult<string, undefined> => {
      const value = failedFrame(call, error)
      failed = true
      return { done: false, value }
    }
    return {
      next: () => (failed ? Promise.resolve(over) : source.next().then(framed).catch(refusal)),
      return: async () => {
        await source.return?.()
        return { done: true, value: undefined }
      }
    }
  }
})

/** Frames, and the data that handlers write between them. */
export const withData = (frames: Frames, chat: LocalChatRef): Frames => {
  const written = () =>
    dataChanges(writtenDataOf(chat), undefined, (parts) =>
      parts.map((part) => frame(JSON.stringify({ type: "data", part }))).join("")
    )
  return (signal) => withChanges(typeof frames === "function" ? frames(signal) : frames, written)
}

/**
 * Starts a turn and answers as the client asks: with the turn's events, with its result (`?wait`), or with its receipt.
 * Rejects with the reason of a refused input.
 */
export const turnReply = async (call: Call, chat: LocalChatRef, begin: () => LiveTurn): Promise<Response> => {
  const streams = asksForEvents(call)
  const waits = call.url.searchParams.has("wait")
  if (streams || waits) call.claimStream()
  const turn = begin()
  const read = streams ? begunTurn(chat, turn) : turn.detach()
  if (call.isAgain) await turn.receipt
  if (call.isAgain && isRepeated(turn)) return repeatedReply(call, chat, turn, { streams, waits })
  await call.accepted(chat, turn)
  const said = { id: turn.id, status: turn.status }
  if (!streams && !waits) return Response.json(said, { status: 202 })
  if (turn.failure !== undefined) throw turn.failure.error
  if (read !== undefined) {
    const frames = (signal: AbortSignal) =>
      joined(ofTurn(read, followerOf(call, chat, turn), signal, { isPatient: true }))
    return call.stream(withData(frames, chat), {
      headers: turnHeaders(turn),
      last: lastFrame,
      reads: { chat, turn }
    })
  }
  const result = await beforeClosing(call, { chat, turn }, turn.result())
  return jsonText(
    `{"id":${JSON.stringify(turn.id)},"status":"${turn.status}","result":${resultText(call.shown.result(result))}}`
  )
}

/** The answer to a request that was sent again after its turn had ended (FORWARD8). */
const repeatedReply = async (
  call: Call,
  chat: LocalChatRef,
  turn: LiveTurn,
  { streams, waits }: { readonly streams: boolean; readonly waits: boolean }
): Promise<Response> => {
  if (!streams && !waits) return Response.json({ id: turn.id, status: "delivered" }, { status: 202 })
  const context = await contextAt(call, chat, turn.id)
  if (isCut(call, context)) throw refused("moved")
  const { result } = context ?? {}
  if (result === undefined) throw turn.failure?.error
  if (!streams) return jsonText(`{"id":${JSON.stringify(turn.id)},"status":"delivered","result":${resultText(result)}}`)
  const end = call.shown.events()({ type: "chat_completed", result })
  const frames = [snapshotFrame(call, chat), frame(eventText(end))]
  return call.stream(alone(frames.join("")), { headers: turnHeaders(turn), last: lastFrame })
}

/** The answer to a retry whose turn has begun at a former home (FORWARD9). */
export const begunReply = async (call: Call, chat: LocalChatRef, id: string): Promise<Response> => {
  const context = chat.getSnapshot()?.context
  if (context === undefined) throw refused("chat_stopped")
  if (asksForEvents(call)) {
    const frames = (signal: AbortSignal) => joined(ofChat(chat, context, followerOf(call, chat), signal))
    const headers = turnHeaders({ id, status: "delivered" })
    return call.stream(withData(frames, chat), { headers, last: lastFrame, reads: { chat } })
  }
  if (!call.url.searchParams.has("wait")) return Response.json({ id, status: "delivered" }, { status: 202 })
  call.claimStream()
  const result = await beforeClosing(call, { chat }, resultOf(call, chat, context))
  return jsonText(`{"id":${JSON.stringify(id)},"status":"delivered","result":${resultText(result)}}`)
}

/** The result of the running turn, or of the last one. */
const resultOf = async (call: Call, chat: LocalChatRef, context: ChatSnapshot["context"]): Promise<ChatResult> => {
  const none = (): ReadonlyArray<ChatResult> => []
  const follower: Follower<ChatResult> = {
    call,
    before: none,
    event: (event) => (event.type === "chat_completed" ? [event.result] : []),
    standing: none,
    over: ({ result }) => (result === undefined ? [] : [result]),
    failed: (error) => {
      throw error
    }
  }
  for await (const [result] of ofChat(chat, context, follower, call.request.signal))
    if (result !== undefined) return result
  throw refused("moved", { retryAfterMs: 1_000 })
}

async function* alone(frames: string): AsyncGenerator<string, void> {
  yield frames
}

/** The id of a turn, and the status of its input, beside the events. */
const turnHeaders = ({ id, status }: Pick<LiveTurn, "id" | "status">): Readonly<Record<string, string>> => ({
  "x-troupe-turn": encodeURIComponent(id),
  "x-troupe-status": status
})

/** Sends a turn whose events have another reader, or the running one. */
const followerOf = (call: Call, chat: LocalChatRef, turn?: LiveTurn): Follower<string> => {
  const standing = (): ReadonlyArray<string> => [snapshotFrame(call, chat)]
  const failed = (error: unknown): ReadonlyArray<string> => [failedFrame(call, error)]
  return {
    call,
    before: () => [],
    event: (event) => [frame(eventText(event))],
    standing,
    over: ({ result }) => {
      if (turn?.failure !== undefined) return failed(turn.failure.error)
      return [...standing(), ...(result === undefined ? [] : [frame(eventText({ type: "chat_completed", result }))])]
    },
    failed
  }
}

const snapshotFrame = (call: Call, chat: LocalChatRef): string => frame(snapshotText(call, chat.getSnapshot()))

/** The JSON text of a chat's state. */
export const snapshotText = (call: Call, snapshot: ChatSnapshot | undefined): string =>
  JSON.stringify({ type: "snapshot", view: viewOf(call, snapshot) })

/** A client's view of its chat. */
export const viewOf = ({ params, shown }: Call, snapshot: ChatSnapshot | undefined): ChatView.ChatView =>
  ChatView.of(params["id"] ?? "", shown.snapshot(snapshot))

async function* joined(followed: AsyncIterable<ReadonlyArray<string>>): AsyncGenerator<string, void> {
  for await (const frames of followed) if (frames.length > 0) yield frames.join("")
}

/** Awaits a promise, until the client is gone or the server closes. */
const beforeClosing = async <A>(
  { request, closing, readers }: Call,
  reads: TurnRead,
  awaited: Promise<A>
): Promise<A> => {
  const leave = readers.read(reads)
  const signal = AbortSignal.any([request.signal, closing])
  const { promise, reject } = Promise.withResolvers<never>()
  const closed = () =>
    reject(new HttpError("closing", "The server is closing; the turn goes on", { retryAfterMs: 1_000 }))
  if (signal.aborted) closed()
  signal.addEventListener("abort", closed, { once: true })
  try {
    return await Promise.race([awaited, promise])
  } finally {
    leave(clientHasLeft(request.signal))
    signal.removeEventListener("abort", closed)
  }
}
