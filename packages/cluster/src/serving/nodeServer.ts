/**
 * A server of a Troupe on many nodes: answers requests here, or forwards them to the home of their conversation.
 *
 * Owns: the streams of forwarded requests. Does not own the placement nor the wire between nodes, which `Clustered` has.
 *
 * FORWARD1. A request is answered by the home of the last conversation that its route names. Its client is authenticated,
 *           and its owner's limits are counted, at the node that the client has reached, exactly once.
 * FORWARD2. A node that is not the home, or is not any longer when it starts the chat, answers a forwarded request with 421.
 *           Its route has processed nothing.
 * FORWARD5. A request that names a node is answered by that node and by no other. Its client is authenticated, and its
 *           permission is checked, at the node that the client has reached; the note that is signed has both.
 * FORWARD6. When the node that counts an owner's limits is silent, an observer's request is answered uncounted after
 *           `patienceMs`.
 * FORWARD7. When a server closes, it refuses new requests, and ends the streams that have no end of their own. The answers of
 *           turns go on until they end, for at most `leaseMs`. Then their streams end with an error, and requests without an
 *           answer are refused. The turns go on at their homes.
 */
import type { Clock } from "@troupe/otp"
import type { Server } from "@troupe/server"
import { HttpError } from "@troupe/server/HttpError"
import { responseOf, socketBytes, streamOf } from "@troupe/server/Node"
import {
  begunHeader,
  type ForwardedBy,
  type ForwardedRequest,
  type Forwarder,
  type MountedServers,
  movedHeader
} from "../gateway/index.ts"
import type { OwnerGrants, Seat } from "../owners/index.ts"
import { FollowedRequest, isStream, moved } from "./followedRequest.ts"
import { KeptBody } from "./keptBody.ts"
import { type PassedOptions, PassedStream } from "./passedStream.ts"

type Asked = Server.Asked
type Usage = Server.HomeCall["usage"]

/**
 * The parts of a node by which its servers answer.
 *
 * - `grants`: counts a request of an owner, and a chat, once in the cluster. Without it a server counts alone
 * - `leaseMs`: for how long the answers of turns go on when the server of a client closes
 */
export interface NodeParts {
  readonly address: string
  readonly isHome: (id: string) => boolean
  readonly forwarder: Pick<Forwarder, "forward">
  readonly servers: Pick<MountedServers, "mount">
  readonly grants: Pick<OwnerGrants, "admit" | "admitChat"> | undefined
  readonly leaseMs: number
  readonly clock: Clock.Clock
}

/** Makes a server answer its clients and the other nodes. Throws a `ValidationError` for the name of an open server. */
export const makeNodeServer = (parts: NodeParts, home: Server.ServedHome): Server.NodeServer => {
  const server = new NodeServer(parts, home)
  parts.servers.mount(home.name, {
    handle: (request, by) => server.answerForwarded(request, by),
    isClosed: home.isClosed,
    close: home.endForwarded
  })
  return server
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

class NodeServer implements Server.NodeServer {
  readonly #parts: NodeParts
  readonly #home: Server.ServedHome
  /** Aborted when the server closes to its clients. */
  readonly #leaving = new AbortController()
  /** The answers to clients that have an end, and the function that is called when none is left. */
  readonly #answers = new Set<object>()
  #drained: (() => void) | undefined
  #draining: Promise<void> | undefined

  constructor(parts: NodeParts, home: Server.ServedHome) {
    this.#parts = parts
    this.#home = home
  }

  /** Answers a request of a client of this node. */
  async answer(asked: Asked, caller: Server.Caller): Promise<Response> {
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
      const response = await this.#run(asked, { ...caller, via: [], streams }, { streams, end })
      // A stream ends the seat when it is over.
      if (streamOf(response) === undefined) end()
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  /** Answers a request that another node has forwarded. FORWARD2 */
  async answerForwarded(request: Request, by: ForwardedBy): Promise<Response> {
    this.#checkHome(by)
    let asked: Asked | undefined
    try {
      asked = this.#home.find(request)
      return await this.#run(asked, by)
    } catch (error) {
      // The sender finds the next home, so this is no answer for the client.
      if (error instanceof HttpError && error.code === "misdirected") throw error
      return this.#home.refuse(error, request, asked?.route)
    }
  }

  /** Throws an `HttpError` (421) when this node is not the home or the node of a forwarded request. */
  #checkHome({ via, node }: ForwardedBy): void {
    const { address, isHome } = this.#parts
    const id = via.at(-1)
    if (node === undefined ? id === undefined || isHome(id) : node === address) return
    throw misdirected()
  }

  /** Ends the streams to clients that have no end of their own, and waits for the other answers. FORWARD7 */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain())
  }

  async #drain(): Promise<void> {
    const { clock, leaseMs } = this.#parts
    this.#leaving.abort()
    this.#home.endEndless()
    if (this.#answers.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, leaseMs)
      this.#drained = () => {
        clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Counts a request. FORWARD6 */
  async #admitted({ route }: Asked, { owner, may }: Server.Caller): Promise<Seat | undefined> {
    const { grants, clock } = this.#parts
    const { limits, closing } = this.#home
    const admitting = grants?.admit(owner, limits, closing)
    if (admitting === undefined || route.observes !== true || !may.observe) return admitting
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = clock.setTimeout(() => {
      resolve(undefined)
      // A seat that comes late is not used, and a refusal that comes late is ignored.
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

  async #run(asked: Asked, by: ForwardedBy, seat?: Seat): Promise<Response> {
    const { request, url, route } = asked
    const home = this.#home
    const { forwarder, grants } = this.#parts
    const { limits } = home
    const { owner, via, streams } = by
    const kept = new KeptBody(request.body, Math.max(limits.bodyBytes, limits.historyBytes))
    const splice = seat === undefined ? undefined : route.follows?.(request)
    const closing = route.isEndless === true ? this.#leaving.signal : home.closing
    let isHere = true
    const { handled, settle, isWaiting, begun, opened, usage } = home.begin(
      asked,
      { ...by, kept, follows: splice !== undefined || by.follows === true, isForwarded: seat === undefined },
      grants && {
        streams,
        // The stream of another node, or one that is followed, ends the seat itself.
        closed: () => {
          if (isHere) seat?.end()
        },
        chat: (id) => grants.admitChat(owner, id, limits)
      }
    )
    const follow = (to: Pick<ForwardedBy, "via" | "node">, body: ForwardedRequest["body"]): FollowedRequest =>
      new FollowedRequest(forwarder, splice, {
        ...by,
        ...to,
        server: home.name,
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
      if (seat === undefined) return by.follows === true && isStream(answer) ? withName(answer, begun()) : answer
      if (!isStream(answer)) return answer
      const chat = opened()
      if (splice === undefined || chat === undefined) return route.isEndless === true ? answer : passed(answer)
      return passed(follow({ via: [chat] }, await kept.all()).streamed(answer, request.signal, true))
    } catch (cause) {
      const place = home.elsewhere(cause)
      const isStuck = place !== undefined && (kept.isForgotten || via.length >= mostHops)
      const error = isStuck ? moved(cause) : cause
      const isMoved = home.isMoved(error)
      if (seat === undefined && by.follows === true && isMoved) return this.#refused(error, asked, begun())
      const chat = splice === undefined || closing.aborted || !isMoved ? undefined : opened()
      const to = nextOf(isStuck ? undefined : place, by, chat)
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
  #refused(error: unknown, { request, route }: Asked, begun: string | undefined): Response {
    const response = this.#home.refuse(error, request, route)
    response.headers.set(movedHeader, "1")
    return withName(response, begun)
  }
}

/** The answer with the name of the turn that its request has begun, for the node that follows the turn. FORWARD9 */
const withName = (response: Response, begun: string | undefined): Response => {
  if (begun !== undefined) response.headers.set(begunHeader, encodeURIComponent(begun))
  return response
}

/** Where a request is to be sent; `chat` is the one that it has opened here, if it may be sent again. Throws FORWARD2. */
const nextOf = (
  place: ReturnType<Server.ServedHome["elsewhere"]>,
  { via }: ForwardedBy,
  chat: string | undefined
): Pick<ForwardedBy, "via" | "node"> | undefined => {
  if (place?.node !== undefined) return { via, node: place.node }
  if (place?.id !== undefined) {
    if (place.id === via.at(-1)) throw misdirected()
    return { via: [...via, place.id] }
  }
  return chat === undefined ? undefined : { via: [chat] }
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
  if (bytes <= socketBytes) return new Response(body, { status, headers })
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
