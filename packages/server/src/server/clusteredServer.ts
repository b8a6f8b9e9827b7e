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
 *           joins the answers to one. It does so for requests that change nothing when they are processed twice (`Route.follows`), at
 *           most `mostMoves` times for one request. When no home comes in time, the client gets the error of the move.
 * FORWARD7. When a server closes, it cuts the streams of other nodes to its own clients at once. A request whose home is still
 *           being looked for is refused, and so is one that waits for the turn of another node, which goes on. The clients ask
 *           another node.
 */
import {
  AtNode,
  type CallHome,
  type Clustered,
  Elsewhere,
  type ForwardedBy,
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
  type Splice,
  streamOf
} from "../http/index.ts"
import { type Owners, type Permitted, type Usage, usageElsewhere, usageHere } from "../access/index.ts"
import { HttpError } from "../errors/index.ts"
import { FollowedStream } from "./followedStream.ts"

/** The parts of a server that answer a request of an authenticated caller. */
export interface ClusteredHome {
  readonly clustered: Clustered
  /** The name under which the server is mounted. */
  readonly name: string
  readonly home: CallHome
  readonly owners: Owners
  readonly limits: SharedLimits
  readonly failed: (error: unknown, request: Request, url: URL) => void
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

/** The refusal of a request that is not passed on: its route has begun to process it, or its conversations move too often. */
const moved = (cause: unknown): HttpError =>
  new HttpError("moved", "The conversation moves; ask again", { cause, retryAfterMs: 1_000 })

/** The refusal of a request that waits for a turn of another node. FORWARD7 */
const closes = (): HttpError =>
  new HttpError("closing", "The server is closing; the turn goes on", { retryAfterMs: 1_000 })

/** How often a request may be passed on: to the home of the conversation it copies, and to that of the copy. */
const mostHops = 3

/** How often the turn of one request is followed to a next home. */
const mostMoves = 16

/** How long an observer's request waits until it is counted, in milliseconds. */
const patienceMs = 500

export class ClusteredServer {
  readonly #parts: ClusteredHome
  readonly #closing = new AbortController()
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
    const seat = await this.#admitted(asked, caller)
    try {
      const by = { ...caller, via: [], streams: seat?.streams ?? true }
      const response = await this.#run(asked, by, home, seat)
      // A stream ends the seat when it is over.
      if (streamOf(response) === undefined) seat?.end()
      return response
    } catch (error) {
      seat?.end()
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

  async #run({ request, url, route, params }: Asked, by: ForwardedBy, home: CallHome, seat?: Seat): Promise<Response> {
    const { clustered, owners, limits, failed, name } = this.#parts
    const { owner, may, via, streams, follows, again } = by
    const kept = new KeptBody(request.body, Math.max(home.limits.bodyBytes, home.limits.historyBytes))
    const { admit, admitChat, isHome } = clustered
    let isHere = true
    const usage =
      admit === undefined || admitChat === undefined
        ? usageHere(owners, owner)
        : usageElsewhere(owners, owner, {
            streams,
            // The stream of another node ends the seat itself.
            closed: () => {
              if (isHere) seat?.end()
            },
            chat: (id) => admitChat(owner, id, limits)
          })
    const { call, counted, settle, isWaiting } = makeCall(
      { ...home, isHome },
      request,
      url,
      params,
      { owner, may, via, kept, follows, again },
      usage,
      (error) => failed(error, request, url)
    )
    try {
      return await counted(await route.handle(call))
    } catch (error) {
      const isElsewhere = error instanceof Elsewhere
      if (!isElsewhere && !(error instanceof AtNode)) throw error
      if (kept.isForgotten || via.length >= mostHops) throw moved(error)
      if (isElsewhere && error.id === via.at(-1)) throw misdirected()
      isHere = false
      const body = await kept.all()
      const splice = isElsewhere && via.length === 0 ? route.follows?.(jsonOf(body)) : undefined
      const sent = {
        ...by,
        ...(isElsewhere ? { via: [...via, error.id] } : { node: error.address }),
        server: name,
        method: request.method,
        url: url.href,
        headers: forwardedHeaders(request.headers),
        body,
        closing: home.closing,
        ...(splice === undefined ? {} : { follows: true })
      }
      let moves = 0
      const forward = async (signal: AbortSignal, headers = sent.headers): Promise<Response> => {
        for (;;) {
          const response = await clustered.forward({ ...sent, headers, again: moves > 0, signal })
          if (splice === undefined || !response.headers.has(movedHeader)) return response
          if (++moves > mostMoves) throw moved(undefined)
          await response.body?.cancel()
        }
      }
      const response = await (isWaiting() ? untilClosing(home.closing, request, forward) : forward(request.signal))
      if (isStream(response)) {
        const next = async (): Promise<Response> => {
          if (++moves > mostMoves) throw moved(undefined)
          return forward(request.signal, splice?.again(sent.headers))
        }
        const whole = splice === undefined ? response : followed(response, splice, next)
        return passedOn(whole, { left: request.signal, closing: home.closing, ended: () => seat?.end() })
      }
      return wholeOf(response, usage, request)
    } finally {
      settle()
      kept.release()
    }
  }
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

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true

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

/** The value of a body; `undefined` if it is no JSON. */
const jsonOf = (body: Uint8Array | undefined): unknown => {
  try {
    return body === undefined ? undefined : JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

/** A stream of another node that goes on with those of the next homes (FORWARD8). */
const followed = (response: Response, splice: Splice, next: () => Promise<Response>): Response => {
  const { status, headers } = response
  const stream = streamOf(response)
  if (stream === undefined) return response
  const following = {
    splice,
    next: async () => {
      const answer = await next()
      const after = streamOf(answer)
      if (after !== undefined && isStream(answer)) return after
      await answer.body?.cancel()
      throw moved(undefined)
    }
  }
  return responseOf(new FollowedStream(stream, following), { status, headers })
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
