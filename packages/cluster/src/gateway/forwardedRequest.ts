/** A request that one node sends to another: its caller, its headers, and the servers that answer it. */
import type { Server } from "@troupe/server"

/** Joins the frames of several answers to one stream. */
export type Splice = ReturnType<NonNullable<Server.Asked["route"]["follows"]>>

/**
 * The caller of a forwarded request, as the first node authenticated it.
 *
 * - `via`: the Troupe's ids of the chats for whose homes the request was forwarded. The last one's home is to answer.
 * - `node`: the address of the node that is to answer, if the request names one
 * - `streams`: whether the request may open a stream
 * - `follows`: whether the first node sends the request again when the chat moves: then a stream is cut instead of ended with an error,
 *   and a refusal has the header `movedHeader`
 * - `again`: whether the request was sent before
 * - `begun`: the name of the turn that the request has begun at a former home, as that home gave it by `begunHeader`
 */
export interface ForwardedBy extends Server.Caller {
  readonly via: ReadonlyArray<string>
  readonly node?: string | undefined
  readonly streams: boolean
  readonly follows?: boolean | undefined
  readonly again?: boolean | undefined
  readonly begun?: string | undefined
}

/** The header of a refusal after which the first node sends the request again. */
export const movedHeader = "x-troupe-moved"

/** The header of an answer whose request has begun a turn: the name of the turn for the next home. */
export const begunHeader = "x-troupe-begun"

/** A request for another node, with all of its body. `server` is the name under which the server is mounted. */
export interface ForwardedRequest extends ForwardedBy {
  readonly server: string
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly signal: AbortSignal
  /** Aborted when the server closes: then no home is looked for any longer. */
  readonly closing: AbortSignal
}

/**
 * A server of this node, for requests that other nodes forward. `handle` answers with an `HttpError` (`misdirected`) when
 * this node is not the home, or not the named node. `close` ends its streams. `isClosed` is whether its program has closed it.
 */
export interface Mounted {
  readonly handle: (request: Request, by: ForwardedBy) => Promise<Response>
  readonly isClosed: () => boolean
  readonly close: () => Promise<void>
}
