/**
 * The port of a Troupe on many nodes, as a server needs it; `@troupe/cluster` implements it.
 *
 * @module
 */
import type { RunningTroupe } from "@troupe/chat"
import type { Permitted } from "../access/index.ts"
import type { NodeStatus } from "../link/index.ts"

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
 * - `may`: the permissions, with their defaults
 */
export interface ForwardedBy {
  readonly owner: string
  readonly may: Permitted
  readonly via: ReadonlyArray<string>
  readonly node?: string | undefined
  readonly streams: boolean
  readonly follows?: boolean | undefined
  readonly again?: boolean | undefined
  readonly begun?: string | undefined
}

/** Joins the frames of several answers to one stream. */
export interface Splice {
  /** Takes whole frames, and returns those for the client. */
  readonly push: (frames: string) => string
  /** Another answer begins: returns the headers of its request. */
  readonly again: (headers: ReadonlyArray<readonly [string, string]>) => ReadonlyArray<readonly [string, string]>
  /** The last frames for a client whose turn is not followed any longer. */
  readonly failed: () => string
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

/**
 * An admitted request: whether it may open a stream. `end` is called when its answer is over; further calls do nothing.
 */
export interface Seat {
  readonly streams: boolean
  readonly end: () => void
}

/** The limits that are counted once in a cluster. */
export interface SharedLimits {
  readonly requestsPerMinute: number
  readonly streams: number
  readonly conversations: number
}

/**
 * A Troupe on many nodes, as a server needs it.
 *
 * - `local`: the Troupe of this node
 * - `isHome`: whether this node is the home of the chat now
 * - `address`: the address of this node for other nodes
 * - `forward`: sends a request to its node, or to the home of its last id, and resolves with the answer
 * - `mount`: makes a server answer forwarded requests, until another one takes its name. Throws a `ValidationError`
 *   (`invalid_options`) while an open server has the name
 * - `admit`: counts a request of an owner, once in the cluster; `closing` is that of the request. `admitChat` counts a chat that is asked for,
 *   once while it is alive here. Both reject with an `HttpError` (429) when a limit is exceeded. `undefined`: this server counts alone
 * - `leaseMs`: for how long the answers of turns go on when the server of a client closes
 * - `nodes`: how many nodes there are
 * - `nodeList`: the nodes, for the observer. With the id of a chat, its home is marked. Resolves within a second, also when
 *   nodes are silent. Never rejects
 */
export interface Clustered {
  readonly local: RunningTroupe
  readonly address: string
  readonly isHome: (id: string) => boolean
  readonly forward: (request: ForwardedRequest) => Promise<Response>
  readonly mount: (name: string, mounted: Mounted) => void
  readonly admit: ((owner: string, limits: SharedLimits, closing: AbortSignal) => Promise<Seat>) | undefined
  readonly admitChat: ((owner: string, id: string, limits: SharedLimits) => Promise<void>) | undefined
  readonly leaseMs: number
  readonly nodes: () => number
  readonly nodeList: (id?: string) => Promise<ReadonlyArray<NodeStatus>>
}
