/**
 * The events of one response: for its creator, and for a client that reads it again, from its beginning or after a number.
 *
 * Owns: the items and the place of one stream. Does not own the turn.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import { System } from "@troupe/otp"
import type { Call } from "../../http/index.ts"
import { contextOf, type Encoder, type Run } from "../../post/index.ts"
import { eventFrame, isRunning, stepsOf } from "../../wire/index.ts"
import {
  endedState,
  extentOf,
  failedState,
  headOf,
  idsOf,
  idsUnder,
  ofFailure,
  ofRefusal,
  ofResult,
  responseBody,
  type ResponseEvent,
  type ResponseHead,
  ResponseItems,
  ResponseNumbers,
  responseOf,
  type ResponsePlace,
  type ResponsesRequest,
  type ResponseState,
  unexpected
} from "../../wire/openAi/index.ts"
import { hasStoredImage, withReplyImage, withReplyImages } from "./replyImages.ts"

/**
 * A response that a client asks for.
 *
 * - `request`: the request that begins it; absent when it is read later
 * - `at`: its place; that of a response that begins is at the end of its conversation
 * - `isManual`: whether the client answers the calls of the tool with this name
 * - `after`: the number of the last event that the client has
 */
export interface AskedResponse {
  readonly request?: ResponsesRequest
  readonly at: Pick<ResponsePlace, "created" | "model"> & Partial<ResponsePlace>
  readonly isManual: (name: string) => boolean
  readonly after?: number | undefined
}

type Answering = Pick<Run<AskedResponse>, "call" | "body"> & Partial<Pick<Run<AskedResponse>, "chat" | "context">>
type Context = Run<AskedResponse>["context"]

/** The place of a response in its conversation. */
export const placeOf = ({ call, chat, context, body: { at } }: Required<Answering>): ResponsePlace => ({
  conversation: call.chats.outerId(chat.id),
  at: context.thread.messages.length,
  ...at
})

/** The type of a stream's last event. */
const lastTypes = {
  completed: "response.completed",
  incomplete: "response.incomplete",
  failed: "response.failed",
  cancelled: "response.incomplete",
  in_progress: "response.in_progress"
} as const

const begins: ResponseState = { status: "in_progress", output: [] }

/** The frames of a response, or its body. Without a chat it is not stored. */
export const responseEncoder = ({ call, chat, body, context }: Answering): Encoder<string> => {
  const { request, at, isManual, after } = body
  const place = chat === undefined || context === undefined ? undefined : placeOf({ call, chat, context, body })
  const ids = place === undefined ? idsUnder(System.uuid(call.troupe.system, "server")) : idsOf(place)
  const head = headOf(ids.response, place ?? at, request)
  const numbers = new ResponseNumbers(after)
  let items = new ResponseItems(ids, isManual)
  let ended: { readonly state: ResponseState; readonly result: ChatResult | undefined } | undefined

  const framesOf = (events: ReadonlyArray<ResponseEvent>): string =>
    numbers
      .next(events)
      .map((event) => eventFrame(event))
      .join("")
  const eventOf = (type: ResponseEvent["type"], state: ResponseState): ResponseEvent => ({
    type,
    response: responseBody(head, state)
  })
  const begin = (): string => framesOf([eventOf("response.created", begins), eventOf("response.in_progress", begins)])
  const end = (state: ResponseState, result: ChatResult | undefined): string => {
    ended = { state, result }
    return framesOf([eventOf(lastTypes[state.status], state)])
  }
  const failed = (error: Parameters<typeof failedState>[0], events: ReadonlyArray<ResponseEvent> = []) => [
    framesOf([...events, eventOf("response.failed", failedState(error, items.output))])
  ]
  const push = (event: Event): ReadonlyArray<string> => {
    const mark = event.type === "message_started" ? call.stepMark : ""
    const frames = [mark === "" ? "" : framesOf(items.end()) + mark, framesOf(items.push(event))]
    if (event.type === "chat_completed")
      frames.push(end(endedState(event.result, items.output, ofResult), event.result))
    return frames.filter((frame) => frame !== "")
  }

  return {
    begin: () => [begin()],
    event: (event) =>
      chat !== undefined && hasStoredImage(event) ? withReplyImage(call, chat, event).then(push) : push(event),
    standing: async ({ earlier, reply, partial: { text, reasoning = "" } }) => {
      if (chat === undefined || place === undefined) return []
      const steps = await stepsAt(call, chat, [...earlier, ...reply], place)
      numbers.restart()
      items = new ResponseItems(ids, isManual)
      const first = begin()
      const ofSteps = steps.map((step) => call.stepMark + framesOf(items.step(step)))
      const partial = framesOf(items.partial(reasoning, text))
      return [first, ...ofSteps, partial === "" ? "" : call.stepMark + partial].filter((frame) => frame !== "")
    },
    end: (now) => (place === undefined ? [] : [end(stateAt(now, place, items.output), now.result)]),
    fail: (error) => failed(ofFailure(error) ?? unexpected, items.end("incomplete")),
    closing: (why) => failed(ofRefusal(why)),
    receipt: () =>
      request?.background === true && request.stream !== true ? Response.json(responseBody(head, begins)) : undefined,
    body: () => {
      if (ended === undefined) return undefined
      const { state, result } = ended
      if (state.status === "failed" && result !== undefined) return responseOf(ofResult(result))
      return Response.json(responseBody(head, state))
    }
  }
}

const stepsAt = async (
  call: Call,
  chat: LocalChatRef,
  messages: ReadonlyArray<Message.Message>,
  { at }: ResponsePlace
) => stepsOf(await withReplyImages(call, chat, extentOf(messages, at).own))

/** The state of the response of a place, which has this output. */
export const stateAt = (
  context: Context,
  { at }: ResponsePlace,
  output: ResponseState["output"] = []
): ResponseState => {
  const { messages } = context.thread
  const isLast = extentOf(messages, at).end === messages.length
  if (isLast && isRunning(context)) return { status: "in_progress", output }
  if (isLast && context.result !== undefined) return endedState(context.result, output, ofResult)
  if (isLast && context.interrupted !== undefined) return { status: "incomplete", output }
  if (isLast && context.lastHaltedReason === "cancelled") return { status: "cancelled", output }
  return { status: output.length === 0 ? "incomplete" : "completed", output }
}

/** The whole response of a place, in any state of its conversation. */
export const storedResponse = async (
  call: Call,
  chat: LocalChatRef,
  place: ResponsePlace,
  isManual: AskedResponse["isManual"]
): Promise<ReturnType<typeof responseBody>> => {
  const context = contextOf(call, chat)
  const ids = idsOf(place)
  const items = new ResponseItems(ids, isManual)
  for (const step of await stepsAt(call, chat, context.thread.messages, place)) items.step(step)
  const head: ResponseHead = headOf(ids.response, place)
  return responseBody(head, stateAt(context, place, items.output))
}
