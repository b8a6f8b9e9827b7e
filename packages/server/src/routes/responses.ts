/**
 * Responses of this server's own routes, and the routes that are made of the table of verbs.
 *
 * VERB2. A result goes to a client through the filter of its row. A row without a filter does not compile, unless its result is open data: it
 *        has no text and no object of a conversation.
 */
import type { Attached, ChatResult, ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { ChatView } from "@troupe/chat/view"
import { bodyOf, type HttpError, statusOf } from "../errors/index.ts"
import { Channel } from "@troupe/otp"
import { type Call, type Changes, refusalOf, refused, SourceFrames } from "../http/index.ts"
import { contextOf, type Encoder, following, type Run, streamed, type Writing } from "../post/index.ts"
import {
  begunTurn,
  contextAt,
  dataChanges,
  eventText,
  type Follower,
  isCut,
  isRepeated,
  ofTurn,
  resultText,
  writtenDataOf
} from "../wire/index.ts"
import { ViewFrames } from "./viewFrames.ts"
import type { LocalChatRef } from "@troupe/chat"
import type * as z from "zod"
import { check } from "../access/index.ts"
import type { Route } from "../http/index.ts"

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

/** The last frame of a refusal. Throws an unexpected error. */
const failedFrame = (call: Pick<Call, "bodyOf" | "cutIfMoved">, error: unknown): string => {
  call.cutIfMoved(error)
  const refusal = refusalOf(error)
  if (refusal === undefined) throw error
  return failedText(call, refusal)
}

const failedText = (call: Pick<Call, "bodyOf">, refusal: HttpError): string =>
  frame(JSON.stringify({ type: "failed", status: statusOf(refusal.code), ...call.bodyOf(refusal) }))

/** The frames of a source. A refusal becomes the last frame; an unexpected error breaks the stream. */
const framesOf = <A>(
  call: Pick<Call, "bodyOf" | "cutIfMoved">,
  source: AsyncIterator<A, undefined>,
  item: (item: A) => string
): SourceFrames<A> => new SourceFrames(source, { item, failed: (error) => failedFrame(call, error) })

/** The data that handlers write, between the frames. */
const dataOf =
  (chat: LocalChatRef) =>
  (changed: () => void): Changes =>
    dataChanges(
      writtenDataOf(chat),
      undefined,
      (parts) => parts.map((part) => frame(JSON.stringify({ type: "data", part }))).join(""),
      changed
    )

/** How a client asks for a turn, and the turn. */
interface Asked {
  readonly isWhole: boolean
  readonly turn: Pick<LiveTurn, "id" | "status" | "failure">
}

/** The frames of a turn, or its result. */
const encoder = ({ call, chat, body: { isWhole, turn } }: Run<Asked>): Encoder<string> => {
  let result: ChatResult | undefined
  const event = (one: Event): ReadonlyArray<string> => {
    if (one.type === "chat_completed") ({ result } = one)
    return isWhole ? [] : [frame(eventText(one))]
  }
  return {
    begin: () => [],
    before: () => [],
    event,
    standing: () => [snapshotFrame(call, chat)],
    end: (context) => {
      if (turn.failure !== undefined) throw turn.failure.error
      if (context.result !== undefined) return event({ type: "chat_completed", result: context.result })
      if (isWhole) throw refused("moved", { retryAfterMs: 1_000 })
      return []
    },
    fail: (error) => [failedFrame(call, error)],
    closing: (why) => [lastFrame(why)],
    body: () =>
      result && jsonText(`{"id":${JSON.stringify(turn.id)},"status":"${turn.status}","result":${resultText(result)}}`)
  }
}

const own: Writing<Asked, string> = {
  headers: ({ turn }) => turnHeaders(turn),
  isWhole: ({ isWhole }) => isWhole,
  frames: () => (frames) => frames.join(""),
  changes: ({ chat }) => [dataOf(chat)],
  encoder
}

/** The form of the answer that a client asks for: the turn's events, its result (`?wait`), or its receipt. */
const formOf = (call: Call): "events" | "result" | "receipt" => {
  if (asksForEvents(call)) return "events"
  return call.url.searchParams.has("wait") ? "result" : "receipt"
}

const receipt = ({ id, status }: Pick<LiveTurn, "id" | "status">): Response =>
  Response.json({ id, status }, { status: 202 })

/** A turn that a request begins, or that it has begun at a former home of the chat (FORWARD9). */
export type Begins = { readonly chat: LocalChatRef } & ({ readonly begin: () => LiveTurn } | { readonly begun: string })

/** Starts a turn and answers as the client asks. Rejects with the reason of a refused input. */
export const turnReply = async ({ chat, ...turnOf }: Begins, call: Call): Promise<Response> => {
  if ("begun" in turnOf) return begunReply(call, chat, turnOf.begun)
  const form = formOf(call)
  if (form !== "receipt") call.claimStream()
  const turn = turnOf.begin()
  const read = form === "events" ? begunTurn(chat, turn) : turn.detach()
  if (call.isAgain) await turn.receipt
  if (call.isAgain && isRepeated(turn)) return repeatedReply(call, chat, turn)
  await call.accepted(chat, turn)
  if (form === "receipt") return receipt(turn)
  if (turn.failure !== undefined) throw turn.failure.error
  const reply = {
    protocol: own,
    call,
    chat,
    body: { isWhole: form === "result", turn },
    get context() {
      return contextOf(call, chat)
    }
  }
  return streamed(reply, { name: "", reads: turn }, (follower) =>
    read === undefined ? resultOf(turn, follower) : ofTurn(read, follower, { isPatient: true })
  )
}

/** The result of a turn as its only event, because a whole answer needs no other. */
const resultOf = (turn: LiveTurn, { call, event }: Follower): AsyncIterableIterator<string> => {
  const frames = new Channel.Channel<string>()
  const read = async (): Promise<void> => {
    const result = await turn.result()
    frames.push(await event({ type: "chat_completed", result: call.shown.result(result) }))
  }
  read().then(
    () => frames.end(),
    (error: unknown) => frames.fail(error)
  )
  return frames
}

/** The answer to a request that was sent again after its turn had ended (FORWARD8). */
const repeatedReply = async (call: Call, chat: LocalChatRef, { id, failure }: LiveTurn): Promise<Response> => {
  const context = formOf(call) === "receipt" ? undefined : await contextAt(call, chat, id)
  if (context !== undefined && !isCut(call, context) && context.result === undefined) throw failure?.error
  return begunReply(call, chat, id, context)
}

/** The answer to a request whose turn has begun before, and is the one of the context (FORWARD9). */
const begunReply = async (
  call: Call,
  chat: LocalChatRef,
  id: string,
  context?: ChatSnapshot["context"]
): Promise<Response> => {
  const form = formOf(call)
  const turn = { id, status: "delivered", failure: undefined } as const
  if (form === "receipt") return receipt(turn)
  call.claimStream()
  return following({ protocol: own, call, chat, body: { isWhole: form === "result", turn } }, { context })
}

/** The id of a turn, and the status of its input, beside the events. */
const turnHeaders = ({ id, status }: Pick<LiveTurn, "id" | "status">): Readonly<Record<string, string>> => ({
  "x-troupe-turn": encodeURIComponent(id),
  "x-troupe-status": status
})

const snapshotFrame = (call: Call, chat: LocalChatRef): string => frame(snapshotText(call, chat.getSnapshot()))

/** The JSON text of a chat's state. */
const snapshotText = (call: Call, snapshot: ChatSnapshot | undefined): string =>
  JSON.stringify({ type: "snapshot", view: viewOf(call, snapshot) })

/** A client's view of its chat. */
export const viewOf = ({ params, shown }: Call, snapshot: ChatSnapshot | undefined): ChatView.ChatView =>
  ChatView.of(params["id"] ?? "", shown.snapshot(snapshot))

/** The events of a chat from a cursor, or from now on. */
export const eventStream = (
  call: Call,
  chat: LocalChatRef,
  slow: Pick<NonNullable<Parameters<LocalChatRef["attach"]>[0]>, "whenSlow" | "maxUnread">
): Response => {
  const cursor = call.request.headers.get("last-event-id") ?? call.url.searchParams.get("cursor") ?? undefined
  const reader = chat.attach({ ...slow, cursor })
  const shown = call.shown.events(reader)
  const text = (item: Attached): string =>
    item.type === "event" ? eventText(shown(item.event)) : snapshotText(call, item.snapshot)
  const frames = framesOf(call, reader, (item) => frame(text(item), item.cursor))
  return call.stream(frames, { changes: [dataOf(chat)], last: lastFrame })
}

/** The view of a chat, as it changes. */
export const viewStream = (chat: LocalChatRef, call: Call): Response => {
  const views = new ViewFrames(call.params["id"] ?? "", chat, call.shown.snapshot)
  return call.stream(
    framesOf(call, views, (item) => frame(JSON.stringify(item))),
    { last: lastFrame }
  )
}

/** A result that is the same for every client. */
type Open = undefined | void | boolean | number

/** The row of a verb. Without `body` the request has no body that is read. `may` is what the owner must be permitted to do. */
interface Row<Body, Result> {
  readonly body?: z.ZodType<Body>
  readonly may?: Parameters<typeof check>[1]
  readonly run: (call: Call, body: Body) => Promise<Result>
}

/** The filter of a result, which makes the response, or the data of a response in JSON. */
type Filter<Result> = (result: Result, call: Call) => unknown

/** The handler of a verb. An open result is answered with `{ ok: true }`, if it has no filter. */
export function handled<Body = undefined>(row: Row<Body, Open> & { readonly shows?: undefined }): Route["handle"]
export function handled<Result, Body = undefined>(
  row: Row<Body, Result> & { readonly shows: Filter<Result> }
): Route["handle"]
export function handled({
  body,
  may,
  run,
  shows = () => ({ ok: true })
}: Row<unknown, unknown> & { readonly shows?: Filter<unknown> | undefined }): Route["handle"] {
  return async (call) => {
    const given = body && (await call.body(body))
    if (may !== undefined) check(call.may, may)
    const shown = await shows(await run(call, given), call)
    return shown instanceof Response ? shown : Response.json(shown)
  }
}

/** A parameter of the path. */
export const paramOf = ({ params }: Call, name: "id" | "task" | "toolCallId" | "blob" | "memory"): string =>
  params[name] ?? ""

/** The chat of the path. Throws an `HttpError` (404) for an unknown one. */
export const existing = (call: Call): Promise<LocalChatRef> => call.chats.existing(paramOf(call, "id"))

/** Makes the handlers of verbs without a result, of the chat that `open` returns. */
export const verbOf =
  (open: (call: Call) => Promise<LocalChatRef>) =>
  <Body>(body: z.ZodType<Body>, run: (chat: LocalChatRef, body: Body, call: Call) => Open | Promise<Open>) =>
    handled({ body, run: async (call, given) => run(await open(call), given, call) })
