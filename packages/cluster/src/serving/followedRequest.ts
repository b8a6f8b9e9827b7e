/**
 * A request on its way to the home of its conversation, and to the next homes.
 *
 * Owns: how often the conversation has moved, and the name of the turn that the request has begun. Does not own the streams, nor the
 * search for a home.
 *
 * FORWARD8. When the chat of a request leaves its home, the node that the client has reached sends the request to the next home, and
 *           joins the answers to one, also when that node was the home itself. It does so for the routes with `Route.follows`, at
 *           most `mostMoves` times for one request. When no home comes in time, the client gets the error of the move.
 * FORWARD9. A request begins at most one turn over moves. The home names the turn when its input is stored. The next home gets that
 *           name with the request, and answers with that turn. Without a name the request has begun nothing.
 * FORWARD10. A stream whose turn has not ended goes on with that of the next home, or ends with an error. A whole answer is that of a turn
 *            that has ended.
 */
import { HttpError } from "@troupe/server/HttpError"
import { type Pieces, responseOf, streamOf } from "@troupe/server/Node"
import { begunHeader, type ForwardedRequest, type Forwarder, movedHeader, type Splice } from "../gateway/index.ts"
import { FollowedStream } from "./followedStream.ts"

/** How often one request is sent to a next home. */
const mostMoves = 16

/** The refusal of a request that is not passed on: its route has begun to process it, or its conversations move too often. */
export const moved = (cause: unknown): HttpError =>
  new HttpError("moved", "The conversation moves; ask again", { cause, retryAfterMs: 1_000 })

/** Whether a response is a stream of events. */
export const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true

export class FollowedRequest {
  readonly #forwarder: Pick<Forwarder, "forward">
  readonly #splice: Splice | undefined
  #sent: Omit<ForwardedRequest, "signal">
  #count = 0

  /** Without a `splice` the request is sent once. */
  constructor(
    forwarder: Pick<Forwarder, "forward">,
    splice: Splice | undefined,
    sent: Omit<ForwardedRequest, "signal">
  ) {
    this.#forwarder = forwarder
    this.#splice = splice
    this.#sent = sent
  }

  /** The answer of the home, or of the next one when the conversation moves (FORWARD8). */
  async answer(signal: AbortSignal, headers = this.#sent.headers): Promise<Response> {
    for (;;) {
      const response = await this.#forwarder.forward({ ...this.#sent, headers, signal })
      const begun = response.headers.get(begunHeader)
      if (begun !== null) this.#sent = { ...this.#sent, begun: decodeURIComponent(begun) }
      response.headers.delete(begunHeader)
      if (this.#splice === undefined || !response.headers.has(movedHeader)) return response
      this.#moves()
      await response.body?.cancel()
    }
  }

  /** A stream that goes on with those of the next homes. `isOwn` is whether it is one of this node, which ends it itself. */
  streamed(response: Response, signal: AbortSignal, isOwn = false): Response {
    const { status, headers } = response
    const [stream, splice] = [streamOf(response), this.#splice]
    if (stream === undefined || splice === undefined) return response
    const next = async (): Promise<Pieces> => {
      this.#moves()
      const answer = await this.answer(signal, splice.again(this.#sent.headers))
      const after = streamOf(answer)
      if (after !== undefined && isStream(answer)) return after
      await answer.body?.cancel()
      throw moved(undefined)
    }
    const { closing } = this.#sent
    return responseOf(new FollowedStream(stream, { splice, next, closing, isOwn }), { status, headers })
  }

  #moves(): void {
    if (++this.#count > mostMoves) throw moved(undefined)
    this.#sent = { ...this.#sent, again: true }
  }
}
