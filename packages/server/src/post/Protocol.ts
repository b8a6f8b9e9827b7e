/** The parts of a protocol that its routes give to the shared handler. */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { PendingApproval } from "@troupe/chat/tools"
import type { HttpError } from "../errors/index.ts"
import type { Call, Changes, PostPolicy, TurnOptions } from "../http/index.ts"
import type { CallNews, WrittenPart } from "../wire/index.ts"
import type { Refusal } from "./reconcile.ts"

export type Context = ChatSnapshot["context"]

/** Items for the wire, at once or later. */
export type Items<Item> = ReadonlyArray<Item> | Promise<ReadonlyArray<Item>>

/** The state of a conversation in place of events: the messages before the reply, and those of the reply. */
interface Standing {
  readonly earlier: ReadonlyArray<Message.Message>
  readonly reply: ReadonlyArray<Message.Message>
  readonly approvals: ReadonlyArray<PendingApproval>
  readonly partial: Context["partial"]
}

/**
 * Makes the items of a protocol from a turn. `isLook`: nothing ran for this client.
 *
 * - `closing`: the last items of a stream that the server ends
 * - `before`: the reply before a turn that is sent from its beginning. Default: its standing
 * - `news`: the item of an update about a call
 * - `receipt`: the answer to a client that does not wait for the turn
 * - `body`: the whole answer; `undefined` while the end of the turn was not read
 */
export interface Encoder<Item> {
  readonly begin: () => ReadonlyArray<Item>
  readonly event: (event: Event) => Items<Item>
  readonly standing: (standing: Standing) => Items<Item>
  readonly end: (context: Context, isLook: boolean) => ReadonlyArray<Item>
  readonly fail: (error: unknown) => ReadonlyArray<Item>
  readonly closing: (why: HttpError) => ReadonlyArray<Item>
  readonly before?: () => ReadonlyArray<Item>
  readonly news?: (news: CallNews) => Item
  readonly receipt?: () => Response | undefined
  readonly body?: () => Response | undefined
}

/**
 * One request in a conversation.
 *
 * - `context`: the conversation that the server decided about, or that the client reads
 * - `name`: the name of the reply, and `has` its messages that the client has. Of `steps` it has the model's messages alone
 * - `asked`: the ids of the calls that the client was asked to decide about
 */
export interface Run<Body> {
  readonly call: Call
  readonly chat: LocalChatRef
  readonly body: Body
  readonly context: Context
  readonly name: string
  readonly has: ReadonlyArray<Message.Message>
  readonly steps: ReadonlyArray<Message.Message>
  readonly asked: ReadonlyArray<string>
  readonly options: TurnOptions | undefined
}

/**
 * How a protocol writes a turn.
 *
 * - `isWhole`: the client wants one answer in place of a stream
 * - `frames`: makes the function that writes items as text. Default: it writes data frames
 * - `done`: the last frame of a stream that ended
 * - `data`: makes the item of a data part that a handler or a hook wrote into the reply. Without it, they have no writer
 * - `changes`: the values whose changes come between the frames, beside those parts
 */
export interface Writing<Body, Item> {
  readonly headers?: (body: Body) => Readonly<Record<string, string>>
  readonly isWhole?: (body: Body) => boolean
  readonly frames?: (run: Run<Body>) => (items: ReadonlyArray<Item>) => string
  readonly done?: string
  readonly data?: (part: WrittenPart) => Item
  readonly encoder: (run: Run<Body>) => Encoder<Item>
  readonly changes?: (run: Run<Body>) => ReadonlyArray<(changed: () => void) => Changes>
}

/**
 * How a protocol answers a post.
 *
 * - `policy`: its policy, with the choices of the server
 * - `turnName`: the name of a turn that begins, for the next home of the conversation (FORWARD9). Default: its id
 * - `refusal`: the error of a refusal, where the protocol has words of its own
 * - `nothing`: the answer to a look at a conversation that does not exist
 */
export interface Protocol<Body, Item> extends Writing<Body, Item> {
  readonly policy: (posts: Partial<PostPolicy>) => PostPolicy
  readonly turnName?: (run: Pick<Run<Body>, "call" | "chat" | "body" | "context">) => string
  readonly refusal?: (refusal: Refusal) => HttpError | undefined
  readonly nothing: (call: Call, body: Body) => Response
}
