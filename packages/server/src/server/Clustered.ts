/**
 * The port of a Troupe on many nodes, as a server needs it; `@troupe/cluster` implements it.
 *
 * @module
 */
import type { RunningTroupe } from "@troupe/chat"
import type { Permitted, Usage } from "../access/index.ts"
import type { MadeCall, RequestBody, Route } from "../http/index.ts"
import type { NodeStatus } from "../link/index.ts"

/** A request, and its route. */
export interface Asked {
  /** The request of the client. */
  readonly request: Request
  /** Its parsed URL. */
  readonly url: URL
  /** The route that answers it. */
  readonly route: Route
  /** The values of the parameters in the path of the route. */
  readonly params: Readonly<Record<string, string>>
}

/** An authenticated caller. */
export interface Caller {
  /** The authenticated owner. */
  readonly owner: string
  /** The permissions, with their defaults. */
  readonly may: Permitted
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

/** The caller of a request that is answered at this node, and what the node knows of the request. */
export interface HomeCaller extends Caller {
  /** The Troupe's ids of the chats that the request was forwarded for: a route may name them here. */
  readonly via: ReadonlyArray<string>
  /** The body of the request, which may have to be forwarded. */
  readonly kept: RequestBody
  /** Whether the request is sent again when its chat moves: then its stream is cut instead of ended with an error. */
  readonly follows: boolean
  /** Whether the request was sent before. */
  readonly again?: boolean | undefined
  /** The name of the turn that the request has begun at a former home. */
  readonly begun?: string | undefined
  /** Whether another node has forwarded the request: its streams then end with `endForwarded`. */
  readonly isForwarded: boolean
}

/** A request that the home of its owner has admitted. Its streams and chats are not counted in this program. */
export interface AdmittedHere {
  /** Whether the request may open a stream. */
  readonly streams: boolean
  /** Called when its stream is over. */
  readonly closed: () => void
  /** Counts a chat that is asked for. Rejects with an `HttpError` (429) when too many are alive. */
  readonly chat: (id: string) => Promise<void>
}

/** A request that is being answered at this node. */
export interface HomeCall extends MadeCall {
  /** Counts large answers until they are taken. */
  readonly usage: Pick<Usage, "hold" | "add" | "release">
}

/** What a server gives to its node: how it answers requests itself. */
export interface ServedHome {
  /** The name by which other nodes find the server: its `basePath`, or the name of the server between nodes. */
  readonly name: string
  /** The limits of the server. */
  readonly limits: SharedLimits & { readonly bodyBytes: number; readonly historyBytes: number }
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
  /** Whether its program has closed the server. */
  readonly isClosed: () => boolean
  /** Finds the route of a request. Throws an `HttpError` (404, 405). */
  readonly find: (request: Request) => Asked
  /** Begins to answer a request. With `admitted` the home of its owner has counted it. */
  readonly begin: (asked: Asked, caller: HomeCaller, admitted: AdmittedHere | undefined) => HomeCall
  /** Returns the response of an error. */
  readonly refuse: (error: unknown, request: Request, route: Route | undefined) => Response
  /** Returns the chat whose home is to answer, or the node that is to, if a route has thrown that. */
  readonly elsewhere: (error: unknown) => { readonly id?: string; readonly node?: string } | undefined
  /** Whether the error says that the chat has left this node. */
  readonly isMoved: (error: unknown) => boolean
  /** Ends the streams to clients that have no end of their own. */
  readonly endEndless: () => void
  /** Ends the streams and runs that other nodes have asked for. */
  readonly endForwarded: () => Promise<void>
}

/** Answers the requests of the clients of a server, here or at the home of their chats. */
export interface NodeServer {
  /** Answers a request of an authenticated client. Rejects with the error of a refusal. */
  readonly answer: (asked: Asked, caller: Caller) => Promise<Response>
  /** Ends the streams that have no end of their own, and resolves when the answers of turns are over. */
  readonly drain: () => Promise<void>
}

/** A Troupe on many nodes, as a server needs it. */
export interface Clustered {
  /** The Troupe of this node. */
  readonly local: RunningTroupe
  /** The address of this node for other nodes. */
  readonly address: string
  /** Whether this node is the home of the chat now. */
  readonly isHome: (id: string) => boolean
  /**
   * Answers for a server, and makes it answer requests that other nodes forward, until another server takes its name. Throws a
   * `ValidationError` (`invalid_options`) while an open server has the name.
   */
  readonly serve: (server: ServedHome) => NodeServer
  /** How many nodes there are. */
  readonly nodes: () => number
  /**
   * Resolves with the nodes, for the observer. With the id of a chat, its home is marked. Resolves within a second, also when
   * nodes are silent. Never rejects.
   */
  readonly nodeList: (id?: string) => Promise<ReadonlyArray<NodeStatus>>
}
