/**
 * Chats over HTTP: one handler, `Request → Response`, that mounts in anything.
 *
 * @module
 */
import type { RunningTroupe } from "@troupe/chat"

/** Who asks: the owner of the conversations that are reachable; `observer` says whether the processes are, too. */
export interface Authorized {
  readonly owner: string
  readonly observer?: boolean | undefined
}

/** Nobody: `401`, or `403` for somebody who may not. */
export interface Denied {
  readonly deny: 401 | 403
}

/** What bounds clients. */
export interface Limits {
  /** Bytes of a request's body. Default: 1,048,576. */
  readonly bodyBytes?: number | undefined
  /** Characters of one message. Default: 100,000. */
  readonly messageCharacters?: number | undefined
  /** Living conversations of one owner. Default: 1,000. */
  readonly conversations?: number | undefined
  /** Requests of one owner in a minute. Default: 600. */
  readonly requestsPerMinute?: number | undefined
  /** Open streams of one owner. Default: 100. */
  readonly streams?: number | undefined
}

/** What a server is made with. */
export interface ServerOptions {
  readonly troupe: RunningTroupe
  /** Says who asks. Nobody is let in without it. */
  readonly authorize: (request: Request) => Authorized | Denied | Promise<Authorized | Denied>
  readonly limits?: Limits | undefined
  /** Origins that pages of other places may ask from. Default: none. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** What stands before all paths. Default: nothing. */
  readonly basePath?: string | undefined
}

/** A handler of requests; `close` ends what it has open. */
export interface Server {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

/** Makes a server of a Troupe. */
export declare const make: (options: ServerOptions) => Server
