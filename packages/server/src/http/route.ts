/** A route, and the arguments of its handler. */
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import type * as z from "zod"
import type { ErrorBody, HttpError } from "../errors/index.ts"
import type { Permitted, Shown } from "../access/index.ts"
import type { NodeStatus } from "../link/index.ts"
import type { TurnRead, TurnReaders } from "./turnReaders.ts"

/** Joins the frames of several answers to one stream. */
export interface Splice {
  /** Takes a whole frame, and returns the frames for the client. */
  readonly push: (frame: string) => string
  /** Another answer begins: returns the headers of its request. */
  readonly again: (headers: ReadonlyArray<readonly [string, string]>) => ReadonlyArray<readonly [string, string]>
  /** The last frames for a client whose turn is not followed any longer. */
  readonly failed: () => string
}

/** The chats of one owner. The ids of other owners' chats lead to no chat. */
export interface OwnedChats {
  /** The Troupe's id of the chat. Throws an `HttpError` (400) for an invalid id. */
  readonly innerId: (id: string) => string
  /** The owner's id of the chat. */
  readonly outerId: (inner: string) => string
  /** The prefix of the Troupe's ids of this owner's chats. */
  readonly prefix: string
  /**
   * The chat, created if there is none, with this agent. Throws an `HttpError` when the limit of conversations is exceeded.
   */
  readonly chat: (id: string, agent?: string) => Promise<LocalChatRef>
  /** The chat if it is loaded or stored. Throws an `HttpError` (404) otherwise. */
  readonly existing: (id: string) => Promise<LocalChatRef>
  /**
   * A chat that `begin` starts, under this id or a new one. Throws an `HttpError` when the limit of conversations is
   * exceeded.
   */
  readonly begun: (id: string | undefined, begin: (inner: string) => Promise<LocalChatRef>) => Promise<LocalChatRef>
  /** A fork of the chat of this id of the Troupe. Throws an `HttpError` as `begun`, and when its images and files have no room. */
  readonly forked: (from: string, options: NonNullable<Parameters<RunningTroupe["fork"]>[1]>) => Promise<LocalChatRef>
}

/** The options that a turn has for itself. */
export type TurnOptions = NonNullable<NonNullable<Parameters<LocalChatRef["send"]>[1]>["options"]>

/** The frames of a stream. A function is called to start them; its signal is aborted when the stream is over. */
export type Frames = AsyncIterable<string> | ((signal: AbortSignal) => AsyncIterable<string>)

/** Frames that come beside those of a stream when a value changes, for one reader. */
export interface Changes {
  /** The frames of what has changed since the last look; empty if nothing has. */
  readonly look: () => string
  /** The stream is over. */
  readonly leave: () => void
}

/** How a stream is sent. */
export interface StreamOptions {
  /** The headers beside those of every stream. */
  readonly headers?: Readonly<Record<string, string>>
  /** The frame before those of the source. */
  readonly first?: string | undefined
  /** What comes between the frames, from the first frame on. Each function begins to call `changed` after a change. */
  readonly changes?: ReadonlyArray<(changed: () => void) => Changes> | undefined
  /** The frame after the last one of the source. */
  readonly done?: string | undefined
  /** Makes the last frame of a stream that the server ends, from the reason. */
  readonly last?: ((why: HttpError) => string) | undefined
  /** The turn that the client reads. */
  readonly reads?: TurnRead | undefined
}

/** What a posted message does where several answers are sensible. */
export interface PostPolicy {
  /** Answers that the chat does not wait for are refused (409), or followed as repeated ones. */
  readonly stale: "refuse" | "follow"
  /** A new message while calls of the client wait: it is refused (409), or the calls get an error as their result. */
  readonly calls: "refuse" | "cancel"
  /** A new message while calls wait for a decision: it is refused (409), or the calls are denied. */
  readonly approvals: "refuse" | "deny"
  /** A message behind a history of which the conversation has nothing is added, or replaces the conversation. */
  readonly history: "add" | "replace"
}

/** One request that is being handled. */
export interface Call {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly owner: string
  readonly may: Permitted
  readonly troupe: RunningTroupe
  /** The cluster of this program, if it is a node of one. */
  readonly cluster:
    | { readonly address: string; readonly nodeList: (id?: string) => Promise<ReadonlyArray<NodeStatus>> }
    | undefined
  readonly chats: OwnedChats
  /**
   * The body, read within the limit, parsed and checked. Of the messages in its list `history`, those before the last one
   * have only their id and role, and do not count. Throws an `HttpError` (400, 413, 415, 422).
   */
  readonly body: <A>(schema: z.ZodType<A>, history?: string) => Promise<A>
  /**
   * A response that streams: each frame is one complete text for the wire, an empty text is none. The frames' iterator is
   * returned when the client is gone. Nothing is read ahead of the socket. Counts as one of the owner's streams until it is over.
   */
  readonly stream: (frames: Frames, options?: StreamOptions) => Response
  /** The clients that read turns. */
  readonly readers: Pick<TurnReaders, "read" | "hasLeft" | "isReading" | "hasRead">
  /**
   * Reserves one of the owner's streams before starting work that needs one. `stream` uses the reservation, and a call that
   * ends without a stream releases it. Throws an `HttpError` (429) when none is left.
   */
  readonly claimStream: () => void
  /** Aborted when the server closes. `request.signal` is aborted when the client is gone. */
  readonly closing: AbortSignal
  /** Registers a function that the server calls and awaits when it closes. Returns the function that unregisters it. */
  readonly whenClosing: (end: () => Promise<unknown>) => () => void
  readonly limits: { readonly messageCharacters: number }
  /** Whether clients of the AI SDK may have tools and instructions of their own. */
  readonly clientTools: boolean
  /** The choices of the server for posts, in place of those of the protocols. */
  readonly posts: Partial<PostPolicy>
  /** The models that clients may name, and the options of a turn with each. */
  readonly models: Readonly<Record<string, TurnOptions>>
  /** The filter of the parts of a conversation that clients see. */
  readonly shown: Shown
  /** Whether the error is that of a move, and the client's node follows the turn (FORWARD8). */
  readonly isFollowed: (error: unknown) => boolean
  /** Breaks the stream when {@link isFollowed} holds for the error. */
  readonly cutIfMoved: (error: unknown) => void
  /** Whether the request was sent before, to a former home of its chat. */
  readonly isAgain: boolean
  /** The name of the turn that the request has begun at a former home of its chat: it begins no other one (FORWARD9). */
  readonly begun: string | undefined
  /**
   * Waits until the chat has accepted a turn that the request begins, and names it, by default by its id.
   * Throws the reason of a refusal. When the client leaves before, a turn without an input is withdrawn (READERS3). An input counts
   * for its owner until it no longer waits (OWNER4).
   */
  readonly accepted: (chat: LocalChatRef, turn: LiveTurn, name?: string) => Promise<void>
  /** The id of an input: the sender's, or one by which the input is found after a move (FORWARD9). */
  readonly inputId: (named: string | undefined) => string | undefined
  /** The frame in front of each step, by which the client's node joins streams whose protocol has no steps. */
  readonly stepMark: string
  /** The part of an error that is sent. */
  readonly bodyOf: (refusal: HttpError) => ErrorBody
}

/**
 * `path` has parameters like `/chats/:id/cancel`. A route that `observes` is answered without its count in the cluster when
 * the node that counts is silent, so that an observer sees which node that is. `produces` are the media types it can answer with; without it, the
 * `accept` header is ignored. The stream of an `isEndless` route has no end of its own: a server that closes ends it at once. A request of a route with `follows` is sent again when its chat moves, and a {@link Splice} joins the streams
 * (FORWARD8): such a route begins no second turn for a request that has begun one (FORWARD9). `refused` makes the response of a refusal; without it, this is the server's own JSON.
 */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly produces?: ReadonlyArray<string>
  readonly observes?: boolean
  readonly isEndless?: boolean
  readonly follows?: (request: Request) => Splice
  readonly refused?: (error: HttpError) => Response
  readonly handle: (call: Call) => Promise<Response>
}

/** Thrown when a route names a chat whose home is another node. The request is forwarded there. */
export class Elsewhere {
  /** The Troupe's id of the chat. */
  readonly id: string

  constructor(id: string) {
    this.id = id
  }
}

/** Thrown when a request names another node of the cluster. The request is forwarded to that node. */
export class AtNode {
  readonly address: string

  constructor(address: string) {
    this.address = address
  }
}
