/** Answers the client of a post with a turn. */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import { HttpError } from "../errors/index.ts"
import { type Call, clientHasLeft, type Text, type TurnRead } from "../http/index.ts"
import {
  CallUpdates,
  dataChanges,
  dataFrames,
  type Follower,
  isSaid,
  messageName,
  standingOf,
  writtenDataOf
} from "../wire/index.ts"
import type { Encoder, Items, Run, Writing } from "./Protocol.ts"

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

/** Reads a turn for a follower. */
type Followed = (follower: Follower) => AsyncIterableIterator<string>

/** Answers with a turn: with its frames, or, once it is over, as a whole. */
export const streamed = async <Body, Item>(
  streaming: Streaming<Body, Item>,
  { name, has = [], steps = [], asked = [], options, reads, isLook = false }: RunPart,
  followed: Followed
): Promise<Response> => {
  const { protocol, call, chat, body } = streaming
  const run: Run<Body> = {
    call,
    chat,
    body,
    get context() {
      return streaming.context
    },
    name,
    has,
    steps,
    asked,
    options
  }
  const encoder = protocol.encoder(run)
  const silent = () => followed(followerOf(call, encoder, isLook, thrown, () => ""))
  const receipt = encoder.receipt?.()
  if (receipt !== undefined) {
    void silent().return?.()
    return receipt
  }
  const read = { chat, turn: reads, answered: () => newestSaid(chat), isLook }
  if (protocol.isWhole?.(body) === true) return whole(call, encoder, read, silent())
  const { headers, data, done, changes } = protocol
  const framesOf = protocol.frames?.(run) ?? dataFrames
  const failed = (error: unknown): string => {
    call.cutIfMoved(error)
    return framesOf(encoder.fail(error))
  }
  const follower = withNews(followerOf(call, encoder, isLook, failed, framesOf), encoder, has, framesOf)
  const reply = () => ({ name, messages: replyMessages(call, chat, name) })
  const written = (changed: () => void) =>
    dataChanges(writtenDataOf(chat), reply(), (parts) => (data === undefined ? "" : framesOf(parts.map(data))), changed)
  return call.stream(followed(follower), {
    ...(headers !== undefined && { headers: headers(body) }),
    first: framesOf(encoder.begin()),
    changes: [...(data === undefined ? [] : [written]), ...(changes?.(run) ?? [])],
    done,
    last: (why) => framesOf(encoder.closing(why)),
    reads: read
  })
}

/** The name of the newest message of a person. */
const newestSaid = (chat: LocalChatRef): string | undefined => {
  const { messages } = chat.thread
  const at = messages.findLastIndex(isSaid)
  const message = messages[at]
  return message && messageName(message, at)
}

/** A follower that has the updates about calls, if the protocol has any. `has` are the messages of the reply that the client has. */
const withNews = <Item>(
  follower: Follower,
  { news }: Encoder<Item>,
  has: Run<never>["has"],
  framesOf: (items: ReadonlyArray<Item>) => string
): Follower => {
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
    report: (report) => framesOf(updates.newsOf(report).map(news))
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
  frames: AsyncIterableIterator<string>
): Promise<Response> => {
  const left = readers.read(reads)
  const leave = (): void => void frames.return?.()
  const signals = [request.signal, closing]
  for (const signal of signals) signal.addEventListener("abort", leave, { once: true })
  if (signals.some(({ aborted }) => aborted)) leave()
  try {
    for await (const _ of frames);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", leave)
    left(clientHasLeft(request.signal))
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
  failed: Follower["failed"],
  framesOf: (items: ReadonlyArray<Item>) => string
): Follower => {
  const tried = async (make: () => Items<Item>): Promise<string> => {
    try {
      return framesOf(await make())
    } catch (error) {
      return failed(error)
    }
  }
  return {
    call,
    before: (reply, earlier) => {
      const items = encoder.before?.()
      return items === undefined
        ? tried(() => encoder.standing({ earlier, reply, approvals: [], partial: none }))
        : framesOf(items)
    },
    event: (event): Text => {
      const items = encoder.event(event)
      return items instanceof Promise ? items.then(framesOf) : framesOf(items)
    },
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
