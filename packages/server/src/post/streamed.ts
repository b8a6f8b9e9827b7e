/** Streams a turn to the client of a post. */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import type { Call } from "../http/index.ts"
import {
  dataChanges,
  dataFrames,
  type Follower,
  standingOf,
  watching,
  watchOf,
  withChanges,
  withNews,
  type WrittenPart,
  writtenDataOf
} from "../wire/index.ts"
import type { Encoder, Protocol, Run } from "./Protocol.ts"

/** A request to stream. */
type Streaming<Body, Item> = Pick<Run<Body>, "call" | "chat" | "body"> & { readonly protocol: Protocol<Body, Item> }

/** The part of a run that its action decides. `reads` is the client's own turn; `isLook`: nothing runs for this client. */
interface RunPart extends Partial<Omit<Run<never>, "call" | "chat" | "body">> {
  readonly name: string
  readonly reads?: LiveTurn
  readonly isLook?: boolean
}

/** The items of a turn, until the signal is aborted. */
type Followed<Item> = (follower: Follower<Item>, signal: AbortSignal) => AsyncIterable<ReadonlyArray<Item>>

export const streamed = <Body, Item>(
  { protocol, call, chat, body }: Streaming<Body, Item>,
  { name, has = [], steps = [], asked = [], options, turns = [], continues = false, reads, isLook = false }: RunPart,
  followed: Followed<Item>
): Response => {
  const run: Run<Body> = { call, chat, body, name, has, steps, asked, options, turns, continues }
  const encoder = protocol.encoder(run)
  const watch = watchOf(call, chat)
  watch.goesOnWith(has)
  const follower = watching(followerOf(call, encoder, isLook), watch)
  const { headers, closing, data } = protocol
  const reply = () => ({ name, messages: replyMessages(call, chat, name) })
  const toFrames = (parts: ReadonlyArray<WrittenPart>): string => dataFrames(parts.map(data))
  const frames = (signal: AbortSignal): AsyncIterable<string> => {
    const items = followed(follower, signal)
    const read = protocol.reading?.(items, run, signal) ?? items
    const first = dataFrames(encoder.begin())
    const text = withNews(read, watch, { first, frames: dataFrames, notify: encoder.news, last: protocol.done })
    const all = withChanges(text, () => dataChanges(writtenDataOf(chat), reply(), toFrames))
    return protocol.around?.(all, run) ?? all
  }
  return call.stream(frames, { ...(headers !== undefined && { headers }), last: closing, reads: { chat, turn: reads } })
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

const followerOf = <Item>(call: Call, encoder: Encoder<Item>, isLook: boolean): Follower<Item> => ({
  call,
  before: (reply, earlier) => encoder.standing({ earlier, reply, approvals: [], partial: none }),
  event: encoder.event,
  standing: ({ pendingApprovals: approvals, partial }, { earlier, now: reply }) =>
    encoder.standing({ earlier, reply, approvals, partial }),
  over: (context, { earlier, now: reply }) => {
    const { pendingApprovals: approvals, partial } = context
    return [...encoder.standing({ earlier, reply, approvals, partial }), ...encoder.end(context, isLook)]
  },
  failed: (error) => {
    call.cutIfMoved(error)
    return encoder.fail(error)
  }
})
