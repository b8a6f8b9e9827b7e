/**
 * A server of a Troupe on many nodes: answers requests here, or forwards them to the home of their conversation.
 *
 * Owns: the streams of forwarded requests. Does not own the placement nor the wire between nodes, which `Clustered` has.
 *
 * FORWARD1. A request is answered by the home of the last conversation that its route names. Its client is authenticated,
 *           and its owner's limits are counted, at the node that the client has reached, exactly once.
 * FORWARD2. A node that is not the home, or is not any longer when it starts the chat, answers a forwarded request with 421.
 *           Its route has processed nothing.
 * FORWARD3. Answers are passed on as they are. When the client leaves, the home's stream is cut.
 * FORWARD5. A request that names a node is answered by that node and by no other. Its client is authenticated, and its
 *           permission is checked, at the node that the client has reached; the note that is signed has both.
 * FORWARD6. When the node that counts an owner's limits is silent, an observer's request is answered uncounted after
 *           `patienceMs`.
 * FORWARD4. `close` of a server ends the streams of its own clients only. Forwarded requests are answered until the node
 *           has left the cluster.
 * FORWARD8. When the chat of a request leaves its home, the node that the client has reached sends the request to the next home, and
 *           joins the answers to one, also when that node was the home itself. It does so for the routes with `Route.follows`, at
 *           most `mostMoves` times for one request. When no home comes in time, the client gets the error of the move.
 * FORWARD9. A request begins at most one turn over moves. The home names the turn when its input is stored. The next home gets that
 *           name with the request, and answers with that turn. Without a name the request has begun nothing.
 * FORWARD10. A stream whose turn has not ended goes on with that of the next home, or ends with an error. A whole answer is that of a turn
 *            that has ended.
 * FORWARD7. When a server closes, it refuses new requests, and ends the streams that have no end of their own. The answers of
 *           turns go on until they end, for at most `leaseMs`. Then their streams end with an error, and requests without an
 *           answer are refused. The turns go on at their homes.
 */
import {
  AtNode,
  begunHeader,
  type CallHome,
  type Clustered,
  Elsewhere,
  type ForwardedBy,
  type ForwardedRequest,
  isMoved,
  KeptBody,
  makeCall,
  movedHeader,
  nodeBeatMs,
  OpenStreams,
  pieceBytes,
  type PassedOptions,
  PassedStream,
  responseOf,
  type Route,
  type Seat,
  type SharedLimits,
  streamOf
} from "../http/index.ts"
import { type Owners, type Permitted, type Usage, usageElsewhere, usageHere } from "../access/index.ts"
import { HttpError } from "../errors/index.ts"
import { FollowedRequest, isStream, moved } from "./followedRequest.ts"

/** The parts of a server that answer a request of an authenticated caller. */
export interface ClusteredHome {
  readonly clustered: Clustered
  /** The name under which the server is mounted. */
  readonly name: string
  readonly home: CallHome
  readonly owners: Owners
  readonly limits: SharedLimits
  readonly failed: (error: unknown, request: Request, url: URL) => void
  /** The response of an error. */
  readonly refuse: (error: unknown, asked: Asked) => Response
}

/** A request, and its route. */
export interface Asked {
  readonly request: Request
  readonly url: URL
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** The caller, and its permissions. */
export interface Caller {
  readonly owner: string
  readonly may: Permitted
}

/** FORWARD2 */
const misdirected = (): HttpError => new HttpError("misdirected", "Another node is to answer this request")

/** The refusal of a request that waits for a turn of another node. FORWARD7 */
const closes = (): HttpError =>
  new HttpError("closing", "The server is closing; the turn goes on", { retryAfterMs: 1_000 })

/** How often a request may be passed on: to the home of the conversation it copies, and to that of the copy. */
const mostHops = 3

/** How long an observer's request waits until it is counted, in milliseconds. */
const patienceMs = 500

export class ClusteredServer {
  readonly #parts: ClusteredHome
  readonly #closing = new AbortController()
  /** Aborted when the server closes to its clients. */
  readonly #leaving = new AbortController()
  /** The answers to clients that have an end, and the function that is called when none is left. */
  readonly #answers = new Set<object>()
  #drained: (() => void) | undefined
  #draining: Promise<void> | undefined
  readonly #ends = new Set<() => Promise<unknown>>()
  readonly #streams: OpenStreams
  readonly #forwarded: CallHome

  constructor(parts: ClusteredHome) {
    const { home } = parts
    this.#parts = parts
    this.#streams = new OpenStreams(home.troupe.system.clock, nodeBeatMs)
    this.#forwarded = { ...home, streams: this.#streams, closing: this.#closing.signal, ends: this.#ends }
  }

  /** Answers a request of a client of this node. */
  async answer(asked: Asked, caller: Caller): Promise<Response> {
    const { home } = this.#parts
    const answer = {}
    let admitted: Seat | undefined
    const end = (): void => {
      admitted?.end()
      if (this.#answers.delete(answer) && this.#answers.size === 0) this.#drained?.()
    }
    if (asked.route.isEndless !== true) this.#answers.add(answer)
    try {
      admitted = await this.#admitted(asked, caller)
      const streams = admitted?.streams ?? true
      const response = await this.#run(asked, { ...caller, via: [], streams }, home, { streams, end })
      // A stream ends the seat when it is over.
      if (streamOf(response) === undefined) end()
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  /** Answers a request that another node has forwarded (FORWARD2). */
  async answerForwarded(asked: Asked, by: ForwardedBy): Promise<Response> {
    return this.#run(asked, by, this.#forwarded)
  }

  /** Throws an `HttpError` (421) when this node is not the home or the node of a forwarded request. */
  checkHome({ via, node }: ForwardedBy): void {
    const { address, isHome } = this.#parts.clustered
    const id = via.at(-1)
    if (node === undefined ? id === undefined || isHome(id) : node === address) return
    throw misdirected()
  }

  /** Ends the streams to clients that have no end of their own, and waits for the other answers. FORWARD7 */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain())
  }

  async #drain(): Promise<void> {
    const { clustered, home } = this.#parts
    this.#leaving.abort()
    home.streams.close("endless")
    if (this.#answers.size === 0) return
    const { clock } = home.troupe.system
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, clustered.leaseMs)
      this.#drained = () => {
        clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends the streams and runs of forwarded requests. */
  async close(): Promise<void> {
    this.#closing.abort()
    const ending = Array.from(this.#ends, (end) => end())
    this.#streams.close()
    await Promise.allSettled(ending)
  }

  /** Counts a request. FORWARD6 */
  async #admitted({ route }: Asked, { owner, may }: Caller): Promise<Seat | undefined> {
    const { clustered, limits, home } = this.#parts
    const admitting = clustered.admit?.(owner, limits, home.closing)
    if (admitting === undefined || route.observes !== true || !may.observe) return admitting
    const { clock } = home.troupe.system
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = clock.setTimeout(() => {
      resolve(undefined)
      // A seat that comes late is not used, and a refusal that comes late refuses nobody.
      admitting.then(
        (seat) => seat.end(),
        () => {}
      )
    }, patienceMs)
    try {
      return await Promise.race([admitting, late])
    } finally {
      clock.clearTimeout(timer)
    }
  }

  async #run(asked: Asked, by: ForwardedBy, home: CallHome, seat?: Seat): Promise<Response> {
    const { request, url, route, params } = asked
    const { clustered, owners, limits, failed, name } = this.#parts
    const { owner, via, streams } = by
    const kept = new KeptBody(request.body, Math.max(home.limits.bodyBytes, home.limits.historyBytes))
    const { admit, admitChat, isHome } = clustered
    const splice = seat === undefined ? undefined : route.follows?.(request)
    const closing = route.isEndless === true ? this.#leaving.signal : home.closing
    let isHere = true
    const usage =
      admit === undefined || admitChat === undefined
        ? usageHere(owners, owner)
        : usageElsewhere(owners, owner, {
            streams,
            // The stream of another node, or one that is followed, ends the seat itself.
            closed: () => {
              if (isHere) seat?.end()
            },
            chat: (id) => admitChat(owner, id, limits)
          })
    const { handled, settle, isWaiting, begun, opened } = makeCall(
      { ...home, isHome, isEndless: route.isEndless },
      request,
      url,
      params,
      { ...by, kept, follows: splice !== undefined || by.follows === true },
      usage,
      (error) => failed(error, request, url)
    )
    const follow = (to: Pick<ForwardedBy, "via" | "node">, body: ForwardedRequest["body"]): FollowedRequest =>
      new FollowedRequest(clustered, splice, {
        ...by,
        ...to,
        server: name,
        method: request.method,
        url: url.href,
        headers: forwardedHeaders(request.headers),
        body,
        closing,
        again: by.again === true || opened() !== undefined,
        begun: begun(),
        ...(splice !== undefined && { follows: true })
      })
    const passed = (response: Response, isCut?: AbortSignal): Response => {
      isHere = false
      return passedOn(response, { left: request.signal, closing: isCut, ended: () => seat?.end() })
    }
    try {
      const answer = await handled(route)
      if (seat === undefined || !isStream(answer)) return answer
      const chat = opened()
      if (splice === undefined || chat === undefined) return route.isEndless === true ? answer : passed(answer)
      return passed(follow({ via: [chat] }, await kept.all()).streamed(answer, request.signal, true))
    } catch (cause) {
      const isPassed = cause instanceof Elsewhere || cause instanceof AtNode
      const error = isPassed && (kept.isForgotten || via.length >= mostHops) ? moved(cause) : cause
      if (seat === undefined && by.follows === true && isMoved(error)) return this.#refused(error, asked, begun())
      const chat = splice === undefined || closing.aborted ? undefined : opened()
      const to = nextOf(error, by, chat)
      if (to === undefined) throw error
      isHere = false
      const turn = follow(to, await kept.all())
      const response = await (isWaiting()
        ? untilClosing(closing, request, (signal) => turn.answer(signal))
        : turn.answer(request.signal))
      if (!isStream(response)) return wholeOf(response, usage, request)
      return splice === undefined ? passed(response, closing) : passed(turn.streamed(response, request.signal))
    } finally {
      settle()
      kept.release()
    }
  }

  /** A refusal after which the first node sends the request again. FORWARD8, FORWARD9 */
  #refused(error: unknown, asked: Asked, begun: string | undefined): Response {
    const response = this.#parts.refuse(error, asked)
    response.headers.set(movedHeader, "1")
    if (begun !== undefined) response.headers.set(begunHeader, encodeURIComponent(begun))
    return response
  }
}

/** Where a request is to be sent; `chat` is the one that it has opened here, if it may be sent again. Throws FORWARD2. */
const nextOf = (
  error: unknown,
  { via }: ForwardedBy,
  chat: string | undefined
): Pick<ForwardedBy, "via" | "node"> | undefined => {
  if (error instanceof AtNode) return { via, node: error.address }
  if (error instanceof Elsewhere) {
    if (error.id === via.at(-1)) throw misdirected()
    return { via: [...via, error.id] }
  }
  return chat !== undefined && isMoved(error) ? { via: [chat] } : undefined
}

/** The headers that belong to one connection, or are for the first node only. */
const notForwarded: ReadonlySet<string> = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

const forwardedHeaders = (headers: Headers): ReadonlyArray<readonly [string, string]> =>
  [...headers].filter(([name]) => !notForwarded.has(name))

/** Forwards a request. When the server closes before the answer begins, the request is refused (FORWARD7). */
const untilClosing = async (
  closing: AbortSignal,
  { signal }: Request,
  forward: (signal: AbortSignal) => Promise<Response>
): Promise<Response> => {
  const closed = new AbortController()
  const close = (): void => closed.abort(closes())
  closing.addEventListener("abort", close, { once: true })
  if (closing.aborted) close()
  try {
    return await forward(AbortSignal.any([signal, closed.signal]))
  } catch (error) {
    throw closed.signal.aborted && !signal.aborted ? closed.signal.reason : error
  } finally {
    closing.removeEventListener("abort", close)
  }
}

/** A stream of another node, which ends when it is over, and fails when the server closes. */
const passedOn = (response: Response, options: PassedOptions): Response => {
  const { status, headers } = response
  const stream = streamOf(response)
  return stream === undefined ? response : responseOf(new PassedStream(stream, options), { status, headers })
}

/** Any other answer of another node, which is not cut when the server closes. A large one is counted here until it is taken (OWNER3). */
const wholeOf = (response: Response, usage: Usage, { method, signal }: Request): Response => {
  const { body, status, headers } = response
  const stream = streamOf(response)
  if (stream === undefined) return response
  const bytes = Number(headers.get("content-length") ?? 0)
  if (bytes <= pieceBytes) return new Response(body, { status, headers })
  try {
    if (method === "GET") usage.hold(bytes)
    else usage.add(bytes)
  } catch (error) {
    stream.cancel()
    throw error
  }
  const passed = new PassedStream(stream, { left: signal, ended: () => usage.release(bytes) })
  return new Response(responseOf(passed, { status }).body, { status, headers })
}
