/**
 * Requests on their way to the home of their conversation, or to the node that they name.
 *
 * Owns: the servers of this node that answer forwarded requests. Does not own the placement, nor the connections.
 *
 * CLUSTER10. A node that is not the home of the conversation answers a forwarded request with 421, never with the state of
 *            another home. Its sender forgets the home that it remembered, and looks it up again until its deadline.
 * HOP1. A request is sent again only if it was not processed (421, or the node was not reached), if it is a `GET`, or if it has begun
 *        its turn at a former home (FORWARD9). Of any other request without an answer the client gets `home_silent`: it may have been
 *        processed.
 * HOP2. A request that names a node is sent to that node, once. When the cluster has no such node, or the node is not reached,
 *       the client gets `node_unreached`: nothing was done. When the node is silent until the deadline of the wire (INNER1),
 *       the client gets `node_silent`.
 * HOP3. After `close` no home is looked up again, and no timer of a look-up is left: a request without a home is refused.
 * HOP4. When an answer is cut or does not come, the home is forgotten. The client's next request looks it up, and does not
 *       wait for a home that is frozen.
 * HOP5. Other nodes find a server by its name. While a server of this node is open, no other one takes its name.
 * HOP6. A request waits until its conversation has a home, and until that home has made its server, for at most `deadlineMs`.
 *       So the first requests of a cluster whose nodes are joining are answered.
 * HOP7. A request that may not be sent again is given up only when its home has shown no life for `deadlineMs`: a home that is busy
 *       for a shorter time keeps its lease, and answers.
 *
 * @module
 */
import { ValidationError } from "@troupe/chat/errors"
import { Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import type { Accepted, InnerClient } from "../inner/index.ts"
import { misdirected } from "../inner/index.ts"
import { ClusterError, pause, type Placement } from "../placement/index.ts"
import type { ForwardedRequest, Mounted } from "./forwardedRequest.ts"
import type { NodeList } from "./NodeList.ts"
import { type Note, noteText } from "./note.ts"

/** The parts that a forwarder needs. */
export interface ForwarderParts {
  readonly placement: Pick<Placement, "address" | "homeOf" | "forget">
  readonly client: Pick<InnerClient, "request">
  readonly clock: Clock.Clock
  readonly isHome: (id: string) => boolean
  readonly nodes: Pick<NodeList, "has">
  /** How long a home is looked for, and may show no life, in milliseconds. */
  readonly deadlineMs: number
}

/**
 * How a home is looked for.
 *
 * - `signal`: aborted when the client leaves
 * - `closing`: aborted when the server closes: the request is refused unless a home has it already
 * - `mayRepeat`: whether the request may be processed twice
 */
interface Looking {
  readonly signal?: AbortSignal | undefined
  readonly closing?: AbortSignal | undefined
  readonly mayRepeat: boolean
}

/** The pause before a home is looked up again, at first and at most. */
const firstPauseMs = 25
const longestPauseMs = 250

export class Forwarder {
  readonly #parts: ForwarderParts
  readonly #servers = new Map<string, Mounted>()
  readonly #closed = new AbortController()

  constructor(parts: ForwarderParts) {
    this.#parts = parts
  }

  /** Throws a `ValidationError` (`invalid_options`) for the name of an open server (HOP5). */
  readonly mount = (name: string, mounted: Mounted): void => {
    if (this.#servers.get(name)?.isClosed() === false) throw taken(name)
    this.#servers.set(name, mounted)
  }

  /** Ends the streams of all forwarded requests, and the look-ups (HOP3). */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.all(Array.from(this.#servers.values(), (mounted) => mounted.close()))
  }

  /**
   * Sends a request to its node, or to the home of its last conversation.
   *
   * **Errors**: rejects with an `HttpError`: `moved` when no home was found in time, `home_silent` (HOP1), `node_unreached`,
   * `node_silent` (HOP2).
   */
  readonly forward = async (request: ForwardedRequest): Promise<Response> => {
    const { method, body, signal, closing, ...by } = request
    const { url, via, node, begun } = by
    const note: Note = { type: "forward", ...by }
    const mayRepeat = method === "GET" || begun !== undefined
    // HOP7
    const headMs = node !== undefined || mayRepeat ? undefined : this.#parts.deadlineMs
    const { pathname, search } = new URL(url)
    const name = via.at(-1) ?? ""
    // HOP4
    const onCut = (): void => this.#parts.placement.forget(Store.bucketOf(name))
    const ask = (to: string | undefined): Promise<Response> => {
      if (to === undefined) return this.#here(note, { method, body, signal })
      const path = pathname + search
      return this.#parts.client.request(to, { method, path, note: noteText(note), body, signal, headMs, onCut })
    }
    return node === undefined
      ? this.toHome(name, { signal, closing, mayRepeat }, ask)
      : this.#toNode(node, () => ask(node))
  }

  /** HOP2 */
  async #toNode(node: string, ask: () => Promise<Response>): Promise<Response> {
    if (!(await this.#parts.nodes.has(node))) throw unreached(undefined)
    try {
      return await ask()
    } catch (cause) {
      if (!(cause instanceof ClusterError) || cause.reason === "stopped") throw refusalOf(cause)
      throw cause.reason === "silent" ? silent(cause) : unreached(cause)
    }
  }

  /**
   * Calls `ask` with the address of the home of a name's bucket, or with `undefined` if it is this node, until a home
   * answers.
   */
  async toHome(
    name: string,
    { signal, closing, mayRepeat }: Looking,
    ask: (to: string | undefined) => Promise<Response>
  ): Promise<Response> {
    const { placement, clock, isHome, deadlineMs } = this.#parts
    const bucket = Store.bucketOf(name)
    const until = clock.now() + deadlineMs
    const ends = [closing, this.#closed.signal]
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      let cause: unknown
      try {
        if (isHome(name)) return await ask(undefined)
        const to = await placement.homeOf(bucket)
        if (to !== undefined && to !== placement.address) return await ask(to)
      } catch (error) {
        cause = error
        if (signal?.aborted === true) throw isPassing(error, mayRepeat) ? noHome(error) : refusalOf(error)
        if (error instanceof ClusterError) placement.forget(bucket)
        if (!isPassing(error, mayRepeat)) throw refusalOf(error)
      }
      placement.forget(bucket)
      if (ends.some((end) => end?.aborted === true) || clock.now() + pauseMs > until) throw noHome(cause)
      await pause(clock, pauseMs, [signal, ...ends])
    }
  }

  /** Answers a request that another node has forwarded (CLUSTER10). */
  async answer(
    note: Extract<Note, { readonly type: "forward" }>,
    { method, body, signal }: Accepted
  ): Promise<Response> {
    try {
      return await this.#here(note, { method, body, signal })
    } catch (error) {
      if (error instanceof HttpError && error.code === "misdirected") return misdirected()
      throw error
    }
  }

  #here(
    note: Extract<Note, { readonly type: "forward" }>,
    { method, body, signal }: Pick<ForwardedRequest, "method" | "body" | "signal">
  ): Promise<Response> {
    const { server, url, headers } = note
    const mounted = this.#servers.get(server)
    // One server is that between nodes.
    if (mounted === undefined) throw this.#servers.size > 1 ? noServer() : noServerYet()
    const init: RequestInit = {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      signal
    }
    const hasBody = method !== "GET" && method !== "HEAD" && body !== undefined && body.byteLength > 0
    const request = new Request(url, hasBody ? { ...init, body } : init)
    return mounted.handle(request, note)
  }
}

/** HOP5 */
const taken = (name: string): ValidationError => {
  const reason = `must differ from that of the other server of this node, ${JSON.stringify(name)}: other nodes find a server by it; write basePath: "/second", or close the other server first`
  return new ValidationError("invalid_options", [{ field: ["basePath"], reason }])
}

/** Whether another home may answer later, and nothing was processed that may not be processed twice. */
const isPassing = (error: unknown, mayRepeat: boolean): boolean => {
  if (error instanceof HttpError) return error.code === "misdirected"
  if (!(error instanceof ClusterError)) return false
  const { reason } = error
  return (
    reason === "misdirected" ||
    reason === "unreached" ||
    reason === "database_failed" ||
    (mayRepeat && reason === "silent")
  )
}

const refusalOf = (cause: unknown): unknown => {
  if (!(cause instanceof ClusterError)) return cause
  if (cause.reason === "stopped")
    return new HttpError("troupe_stopped", "This server has stopped; ask again", { cause, retryAfterMs: 1_000 })
  if (cause.reason !== "silent") return cause
  return new HttpError(
    "home_silent",
    "The conversation's server gave no answer; whether it processed the request is not known. Send a message again under the same id",
    { cause, retryAfterMs: 1_000, headers: HttpError.noResend }
  )
}

const noHome = (cause: unknown): HttpError =>
  new HttpError("moved", "The conversation has no server at the moment; ask again", { cause, retryAfterMs: 1_000 })

const unreached = (cause: unknown): HttpError =>
  new HttpError(
    "node_unreached",
    "The cluster has no such node at the moment, or it was not reached; nothing was done",
    {
      cause,
      retryAfterMs: 1_000
    }
  )

const silent = (cause: unknown): HttpError =>
  new HttpError("node_silent", "The node gave no answer; whether it processed the request is not known", {
    cause,
    retryAfterMs: 1_000
  })

/** HOP6: a node that has just joined may be the home of conversations before its program has made its servers. */
const noServerYet = (): HttpError => new HttpError("misdirected", "The conversation's server is not made yet")

const noServer = (): HttpError =>
  new HttpError("not_found", "The conversation's server does not have these paths; make the same servers on every node")
