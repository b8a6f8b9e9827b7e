/** What a route is, and what it is called with. */
import type { RunningTroupe } from "@troupe/chat"
import type { ChatRef } from "@troupe/chat/chats"
import type * as z from "zod"
import type { HttpError } from "../errors/index.ts"
import type { Permitted, Shown } from "../access/index.ts"

/** The chats of one owner: ids of others lead nowhere. */
export interface OwnedChats {
  /** The id the Troupe knows the chat by. Throws an `HttpError` (400) for what is no id. */
  readonly innerId: (id: string) => string
  /** The id its owner knows it by. */
  readonly outerId: (inner: string) => string
  /** What the Troupe's ids of this owner's chats begin with. */
  readonly prefix: string
  /** The chat, begun if there is none. Throws an `HttpError` past the limit of conversations. */
  readonly chat: (id: string) => Promise<ChatRef.ChatRef>
  /** The chat if it lives or is kept. Throws an `HttpError` (404) otherwise. */
  readonly existing: (id: string) => Promise<ChatRef.ChatRef>
  /** A chat that is begun in another way, under this id or a new one. Throws an `HttpError` past the limit of conversations. */
  readonly begun: (
    id: string | undefined,
    begin: (inner: string) => Promise<ChatRef.ChatRef>
  ) => Promise<ChatRef.ChatRef>
}

/** The frames of a stream. With a function they begin when it is called; its signal is aborted when the stream is over. */
export type Frames = AsyncIterable<string> | ((signal: AbortSignal) => AsyncIterable<string>)

/** How a stream is sent: `last` makes the last frame of a stream that the server ends, from the reason. */
export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly last?: (why: HttpError) => string
}

/** One request on its way. */
export interface Call {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly owner: string
  readonly may: Permitted
  readonly troupe: RunningTroupe
  readonly chats: OwnedChats
  /** The body, read within the limit, parsed and checked. Throws an `HttpError` (400, 413, 415, 422). */
  readonly body: <A>(schema: z.ZodType<A>) => Promise<A>
  /**
   * A response that streams: each frame is a whole piece of text for the wire. The frames' iterator is returned when the
   * client is gone; nothing is read ahead of the socket. Counts as one of the owner's streams until it is over.
   */
  readonly stream: (frames: Frames, options?: StreamOptions) => Response
  /**
   * Takes one of the owner's streams before something is begun that will need one: `stream` uses it, and a call that ends
   * without gives it back. Throws an `HttpError` (429) where there is none.
   */
  readonly claimStream: () => void
  /** Aborted when the server closes; `request.signal`, when the client is gone. */
  readonly closing: AbortSignal
  /** Ends something when the server closes, which waits for it; gives what forgets it. */
  readonly whenClosing: (end: () => Promise<unknown>) => () => void
  readonly limits: { readonly messageCharacters: number }
  /** What of a conversation clients see. */
  readonly shown: Shown
}

/**
 * `path` has parameters like `/chats/:id/cancel`. `produces` are the media types it can answer with; without, what the client
 * accepts is not looked at. `refused` makes the response of a refusal; without, it is this server's own JSON.
 */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly produces?: ReadonlyArray<string>
  readonly refused?: (error: HttpError) => Response
  readonly handle: (call: Call) => Promise<Response>
}
