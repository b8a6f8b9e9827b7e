/** What a route is, and what it is called with. */
import type { ChatRef, RunningTroupe } from "@troupe/chat"
import type * as z from "zod"

/** The chats of one owner: ids of others lead nowhere. */
export interface OwnedChats {
  /** The id the Troupe knows the chat by. */
  readonly innerId: (id: string) => string
  /** The id its owner knows it by. */
  readonly outerId: (inner: string) => string
  /** The chat, begun if there is none. Throws an `HttpError` past the limit of conversations. */
  readonly chat: (id: string) => Promise<ChatRef.ChatRef>
  /** The chat if it lives or is kept. Throws an `HttpError` (404) otherwise. */
  readonly existing: (id: string) => Promise<ChatRef.ChatRef>
}

/** One request on its way. */
export interface Call {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly owner: string
  readonly mayObserve: boolean
  readonly troupe: RunningTroupe
  readonly chats: OwnedChats
  /** The body, read within the limit, parsed and checked. Throws an `HttpError` (400, 413, 415, 422). */
  readonly body: <A>(schema: z.ZodType<A>) => Promise<A>
  /**
   * A response that streams: each frame is a whole piece of text for the wire. The frames' iterator is returned when the
   * client is gone; nothing is read ahead of the socket. Counts as one of the owner's streams until it is over.
   */
  readonly stream: (frames: AsyncIterable<string>, options?: { readonly headers?: Record<string, string> }) => Response
  readonly limits: { readonly messageCharacters: number }
}

/** `path` has parameters like `/chats/:id/cancel`. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly handle: (call: Call) => Promise<Response>
}
