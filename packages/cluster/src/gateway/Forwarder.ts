/**
 * Requests on their way to the home of their conversation, or to the node that they name.
 *
 * Owns: the look-ups of homes. Does not own the placement, nor the connections, nor the servers of this node.
 *
 * HOP1. A request is sent again only if it was not processed (421, or the node was not reached), if it is a `GET`, or if it has begun
 *        its turn at a former home (FORWARD9). Of any other request without an answer the client gets `home_silent`: it may have been
 *        processed.
 * HOP3. After `close` no home is looked up again, and no timer of a look-up is left: a request without a home is refused.
 * HOP4. When an answer is cut or does not come, the home is forgotten. The client's next request looks it up, and does not
 *       wait for a home that is frozen.
 * HOP6. A request waits until its conversation has a home, and until that home has made its server, for at most `deadlineMs`.
 *       So the first requests of a cluster whose nodes are joining are answered.
 * HOP7. A request that may not be sent again is given up only when its home has shown no life for `deadlineMs`: a home that is busy
 *       for a shorter time keeps its lease, and answers.
 *
 * @module
 */
import { Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import type { InnerClient } from "../inner/index.ts"
import { ClusterError, pause, type Placement } from "../placement/index.ts"
import type { ForwardedRequest } from "./forwardedRequest.ts"
import type { MountedServers } from "./mountedServers.ts"
import { toNode } from "./namedNode.ts"
import type { NodeList } from "./NodeList.ts"
import { type Note, noteText } from "./note.ts"
import { refusalOf } from "./refusal.ts"

/** The parts that a forwarder needs. */
export interface ForwarderParts {
  readonly placement: Pick<Placement, "address" | "homeOf" | "forget">
  readonly client: Pick<InnerClient, "request">
  readonly clock: Clock.Clock
  readonly isHome: (id: string) => boolean
  readonly nodes: Pick<NodeList, "has">
  /** The servers of this node. */
  readonly servers: Pick<MountedServers, "handle">
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
  readonly #closed = new AbortController()

  constructor(parts: ForwarderParts) {
    this.#parts = parts
  }

  /** Ends the look-ups (HOP3). */
  close(): void {
    this.#closed.abort()
  }

  /**
   * Sends a request to its node, or to the home of its last conversation.
   *
   * **Errors**: rejects with an `HttpError`: `moved` when no home was found in time, `home_silent` (HOP1), `node_unreached`,
   * `node_silent` (HOP2).
   */
  readonly forward = async (request: ForwardedRequest): Promise<Response> => {
    const { servers, nodes } = this.#parts
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
      if (to === undefined) return servers.handle(note, { method, body, signal })
      const path = pathname + search
      return this.#parts.client.request(to, { method, path, note: noteText(note), body, signal, headMs, onCut })
    }
    return node === undefined
      ? this.toHome(name, { signal, closing, mayRepeat }, ask)
      : toNode(nodes, node, () => ask(node))
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
        // CLUSTER10
        if (error instanceof ClusterError) placement.forget(bucket)
        if (!isPassing(error, mayRepeat)) throw refusalOf(error)
      }
      placement.forget(bucket)
      if (ends.some((end) => end?.aborted === true) || clock.now() + pauseMs > until) throw noHome(cause)
      await pause(clock, pauseMs, [signal, ...ends])
    }
  }
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

const noHome = (cause: unknown): HttpError =>
  new HttpError("moved", "The conversation has no server at the moment; ask again", { cause, retryAfterMs: 1_000 })
