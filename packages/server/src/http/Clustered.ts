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

/** The caller of a forwarded request, as the first node authenticated it. */
export interface ForwardedBy {
  /** The authenticated owner. */
  readonly owner: string
  /** The permissions, with their defaults. */
  readonly may: Permitted
  /** The Troupe's ids of the chats for whose homes the request was forwarded. The last one's home is to answer. */
  readonly via: ReadonlyArray<string>
  /** The address of the node that is to answer, if the request names one. */
  readonly node?: string | undefined
  /** Whether the request may open a stream. */
  readonly streams: boolean
  /**
   * Whether the first node sends the request again when the chat moves: then a stream is cut instead of ended with an error, and
   * a refusal has the header `movedHeader`.
   */
  readonly follows?: boolean | undefined
  /** Whether the request was sent before. */
  readonly again?: boolean | undefined
  /** The name of the turn that the request has begun at a former home, as that home gave it by `begunHeader`. */
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

/** A request for another node, with all of its body. */
export interface ForwardedRequest extends ForwardedBy {
  /** The name under which the server is mounted. */
  readonly server: string
  /** `GET`, `POST` and so on. */
  readonly method: string
  /** The whole URL of the request. */
  readonly url: string
  /** The names and values as the client sent them. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** The body; `undefined` without one. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
  /** Aborted when the server closes: then no home is looked for any longer. */
  readonly closing: AbortSignal
}

/** A server of this node, for requests that other nodes forward. */
export interface Mounted {
  /** Answers with an `HttpError` (`misdirected`) when this node is not the home, or not the named node. */
  readonly handle: (request: Request, by: ForwardedBy) => Promise<Response>
  /** Whether its program has closed it. */
  readonly isClosed: () => boolean
  /** Ends its streams. */
  readonly close: () => Promise<void>
}

/** An admitted request. */
export interface Seat {
  /** Whether it may open a stream. */
  readonly streams: boolean
  /** Called when its answer is over; further calls do nothing. */
  readonly end: () => void
}

/** The limits that are counted once in a cluster. */
export interface SharedLimits {
  /** The requests of one owner in a minute. */
  readonly requestsPerMinute: number
  /** The open streams of one owner. */
  readonly streams: number
  /** The live conversations of one owner. */
  readonly conversations: number
}

/** A Troupe on many nodes, as a server needs it. */
export interface Clustered {
  /** The Troupe of this node. */
  readonly local: RunningTroupe
  /** The address of this node for other nodes. */
  readonly address: string
  /** Whether this node is the home of the chat now. */
  readonly isHome: (id: string) => boolean
  /** Sends a request to its node, or to the home of its last id, and resolves with the answer. */
  readonly forward: (request: ForwardedRequest) => Promise<Response>
  /**
   * Makes a server answer forwarded requests, until another one takes its name. Throws a `ValidationError` (`invalid_options`)
   * while an open server has the name.
   */
  readonly mount: (name: string, mounted: Mounted) => void
  /**
   * Counts a request of an owner, once in the cluster; `closing` is that of the request. Rejects with an `HttpError` (429) when a
   * limit is exceeded. `undefined`: this server counts alone.
   */
  readonly admit: ((owner: string, limits: SharedLimits, closing: AbortSignal) => Promise<Seat>) | undefined
  /** Counts a chat that is asked for, once while it is alive here. Rejects as `admit` does. */
  readonly admitChat: ((owner: string, id: string, limits: SharedLimits) => Promise<void>) | undefined
  /** For how long the answers of turns go on when the server of a client closes, in milliseconds. */
  readonly leaseMs: number
  /** How many nodes there are. */
  readonly nodes: () => number
  /**
   * Resolves with the nodes, for the observer. With the id of a chat, its home is marked. Resolves within a second, also when
   * nodes are silent. Never rejects.
   */
  readonly nodeList: (id?: string) => Promise<ReadonlyArray<NodeStatus>>
}
