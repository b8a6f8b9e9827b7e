/** Answers the client of a post with a turn. */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import { HttpError } from "../errors/index.ts"
import { type Call, clientHasLeft, type TurnRead } from "../http/index.ts"
import {
  CallUpdates,
  dataChanges,
  dataFrames,
  type Follower,
  isSaid,
  type Items,
  messageName,
  standingOf,
  withChanges,
  writtenDataOf
} from "../wire/index.ts"
import type { Encoder, Run, Writing } from "./Protocol.ts"

/** A request to stream. */
type Streaming<Body, Item> = Pick<Run<Body>, "call" | "chat" | "body" | "context"> & {
  readonly protocol: Writing<Body, Item>
}

/** The part of a run that its action decides. `reads` is the client's own turn; `isLook`: nothing runs for this client. */
interface RunPart extends Partial<Omit<Run<never>, "call" | "chat" | "body" | "context">> {
  readonly name: string
  readonly reads?: LiveTurn
  readonly isLook?: boolean
}

/** The items of a turn, until the signal is aborted. */
type Followed<Item> = (follower: Follower<Item>, signal: AbortSignal) => AsyncIterable<ReadonlyArray<Item>>

/** Answers with a turn: with its frames, or, once it is over, as a whole. */
export const streamed = async <Body, Item>(
  { protocol, call, chat, body, context }: Streaming<Body, Item>,
  { name, has = [], steps = [], asked = [], options, reads, isLook = false }: RunPart,
  followed: Followed<Item>
): Promise<Response> => {
  const run: Run<Body> = { call, chat, body, context, name, has, steps, asked, options }
  const encoder = protocol.encoder(run)
  const receipt = encoder.receipt?.()
  if (receipt !== undefined) {
    followed(followerOf(call, encoder, isLook, thrown), AbortSignal.abort())
    return receipt
  }
  const read = { chat, turn: reads, answered: () => newestSaid(chat), isLook }
  if (protocol.isWhole?.(body) === true)
    return whole(call, encoder, read, (signal) => followed(followerOf(call, encoder, isLook, thrown), signal))
  const follower = withNews(
    followerOf(call, encoder, isLook, (error) => {
      call.cutIfMoved(error)
      return encoder.fail(error)
    }),
    encoder,
    has
  )
  const { headers, data, frames: framesOf = dataFrames } = protocol
  const reply = () => ({ name, messages: replyMessages(call, chat, name) })
  const frames = (signal: AbortSignal): AsyncIterable<string> => {
    const items = followed(follower, signal)
    const text = framed(framesOf(encoder.begin()), items, framesOf, protocol.done)
    const all =
      data === undefined
        ? text
        : withChanges(text, () => dataChanges(writtenDataOf(chat), reply(), (parts) => framesOf(parts.map(data))))
    return protocol.around?.(all, run) ?? all
  }
  const last = (why: HttpError): string => framesOf(encoder.closing(why))
  return call.stream(frames, { ...(headers !== undefined && { headers: headers(body) }), last, reads: read })
}

/** The name of the newest message of a person. */
const newestSaid = (chat: LocalChatRef): string | undefined => {
  const { messages } = chat.thread
  const at = messages.findLastIndex(isSaid)
  const message = messages[at]
  return message && messageName(message, at)
}

async function* framed<Item>(
  first: string,
  items: AsyncIterable<ReadonlyArray<Item>>,
  frames: (items: ReadonlyArray<Item>) => string,
  last: string | undefined
): AsyncGenerator<string, void> {
  if (first !== "") yield first
  for await (const some of items) if (some.length > 0) yield frames(some)
  if (last !== undefined) yield last
}

/** A follower that has the updates about calls, if the protocol has any. `has` are the messages of the reply that the client has. */
const withNews = <Item>(follower: Follower<Item>, { news }: Encoder<Item>, has: Run<never>["has"]): Follower<Item> => {
  if (news === undefined) return follower
  const updates = new CallUpdates()
  updates.continues(has)
  return {
    ...follower,
    before: (reply, earlier) => {
      updates.continues(reply)
      return follower.before(reply, earlier)
    },
    event: (event) => {
      updates.observe(event)
      return follower.event(event)
    },
    standing: (context, standing) => {
      updates.continues(standing.now)
      return follower.standing(context, standing)
    },
    report: (report) => updates.newsOf(report).map(news)
  }
}

const thrown = (error: unknown): never => {
  throw error
}

/** Reads a turn to its end. Throws an `HttpError` (503) when the server closes first. */
const whole = async <Item>(
  { request, closing, readers }: Call,
  { body }: Encoder<Item>,
  reads: TurnRead,
  followed: (signal: AbortSignal) => AsyncIterable<unknown>
): Promise<Response> => {
  const leave = readers.read(reads)
  // A joined signal with listeners is kept in memory until it is aborted.
  const over = new AbortController()
  try {
    for await (const _ of followed(AbortSignal.any([request.signal, closing, over.signal])));
  } finally {
    over.abort()
    leave(clientHasLeft(request.signal))
  }
  const answer = body?.()
  if (answer !== undefined) return answer
  throw new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 })
}

/** The messages of the reply of this name, if it is the newest. */
export const replyMessages = (
  { shown }: Call,
  chat: LocalChatRef,
  name: string
): ReturnType<typeof standingOf>["now"] => {
  const context = shown.snapshot(chat.getSnapshot())?.context
  const standing = context === undefined ? undefined : standingOf(context)
  return standing?.name === name ? standing.now : []
}

const none = { text: "" }

const followerOf = <Item>(
  call: Call,
  encoder: Encoder<Item>,
  isLook: boolean,
  failed: Follower<Item>["failed"]
): Follower<Item> => {
  const tried = async (make: () => Items<Item>): Promise<ReadonlyArray<Item>> => {
    try {
      return await make()
    } catch (error) {
      return failed(error)
    }
  }
  return {
    call,
    before: (reply, earlier) =>
      encoder.before?.() ?? tried(() => encoder.standing({ earlier, reply, approvals: [], partial: none })),
    event: encoder.event,
    standing: ({ pendingApprovals: approvals, partial }, { earlier, now: reply }) =>
      tried(() => encoder.standing({ earlier, reply, approvals, partial })),
    over: (context, { earlier, now: reply }) => {
      const { pendingApprovals: approvals, partial } = context
      return tried(async () => [
        ...(await encoder.standing({ earlier, reply, approvals, partial })),
        ...encoder.end(context, isLook)
      ])
    },
    failed
  }
}
