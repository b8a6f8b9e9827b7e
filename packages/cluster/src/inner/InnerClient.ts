/**
 * Requests of this node to other nodes, over HTTP/2: one connection to each node carries all requests and streams.
 *
 * Owns: the connections to other nodes, and the timer of each request. Does not own the placement: its caller names the node.
 *
 * INNER1. A request fails with `silent` when its connection has moved nothing for `headMs` before the head of its answer: no piece
 *         of a body was taken, and no note came. A node that gets a body, or works longer, sends a note each second (INNER4).
 *         Without the settings of the node the request is not sent: it fails with `unreached`. Later requests to this node use a new
 *         connection.
 * INNER2. An answer whose node sends nothing for `quietMs` while its reader waits fails with `silent`.
 * INNER9. A deadline that fires late, because the thread of this node was busy, reads first what the other node has sent.
 * INNER3. When the signal is aborted, the reader leaves or the client is closed, the stream is cut, and no timer is left.
 *
 * Why one connection: a home writes the tokens of all its streams to a gateway at once, and the gateway reads them at once. With
 * a connection for each stream, each token costs a system call more on both sides.
 *
 * @module
 */
import { type Clock, EventLoop } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { responseOf } from "@troupe/server/Node"
import * as http2 from "node:http2"
import { ClusterError, pause } from "../placement/index.ts"
import { AnswerBody, type Reading } from "./AnswerBody.ts"
import { bodyPiece, clientLeft, connectionSettings, idleMs, mostNote, runSetting, windowBytes } from "./limits.ts"
import { machineTime } from "./machineTime.ts"
import { marks } from "./marks.ts"
import { hashOf, seal } from "./signature.ts"

/** The certificates of the nodes: each node's own, and the authority that signed all of them. */
export interface Tls {
  readonly key: string | Buffer
  readonly cert: string | Buffer
  readonly ca?: string | Buffer | undefined
}

/** The parts of the options that a client needs. */
export interface InnerClientOptions {
  /** The secret that all nodes share, which signs the requests. */
  readonly secret: string
  /** The clock of signatures and timeouts. */
  readonly clock: Clock.Clock
  /** The certificates of the traffic. Default: it is not encrypted. */
  readonly tls?: Tls | undefined
  /** How long a connection may move nothing before the head of an answer, in milliseconds. Default: 2,000. */
  readonly headMs?: number | undefined
  /** How long a node may send nothing of an answer while its reader waits, in milliseconds. Default: 3,000. */
  readonly quietMs?: number | undefined
}

/** A request to another node. */
export interface InnerRequest {
  readonly method: string
  /** The path, with its query. */
  readonly path: string
  readonly note: string
  readonly body?: Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** The deadline of this request, in milliseconds. Default: that of the client. */
  readonly headMs?: number | undefined
  /** Called when the node or its connection ends the body of the answer too early (INNER2). */
  readonly onCut?: (() => void) | undefined
}

/**
 * A connection to a node. `streams` is the number of its open streams; one that `isLeft` takes no further request. At `movedAt` it
 * last took a piece of a body, or brought a note.
 */
interface Connection {
  readonly session: http2.ClientHttp2Session
  /** Aborted when the settings of the node have come, or the connection is over. */
  readonly met: AbortController
  /** The run of the node; a former build sends none. */
  run: number | undefined
  movedAt: number
  isConnected: boolean
  isLeft: boolean
  streams: number
}

/** The head of an answer, and the stream that brings its body. */
interface Answer {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader
  readonly stream: http2.ClientHttp2Stream
}

export class InnerClient {
  readonly #options: InnerClientOptions
  readonly #headMs: number
  readonly #quietMs: number
  /** The connection for the next request to each node. */
  readonly #connections = new Map<string, Connection>()
  /** All connections, also those that take no further request. */
  readonly #sessions = new Set<http2.ClientHttp2Session>()
  #isClosed = false

  constructor(options: InnerClientOptions) {
    this.#options = options
    this.#headMs = options.headMs ?? 2_000
    this.#quietMs = options.quietMs ?? 3_000
  }

  /**
   * Sends a request to a node, and resolves with the head of its answer.
   *
   * **Errors**: rejects with a `ClusterError`: `unreached`, `silent`, `unauthorized`, `misdirected`, `stopped`; and with an
   * `HttpError` (`headers_too_large`).
   */
  async request(to: string, request: InnerRequest): Promise<Response> {
    if (this.#isClosed) throw new ClusterError("stopped", "This node has stopped")
    if (request.note.length > mostNote) throw tooLarge()
    const connection = this.#connectionTo(to)
    if (!connection.met.signal.aborted) await this.#meet(to, connection, request.signal)
    const { headers, stream } = await this.#head(to, connection, request)
    const mark = headers[marks.header]
    if (mark === undefined) {
      return responseOfNode(headers, stream, {
        clock: this.#options.clock,
        quietMs: this.#quietMs,
        onCut: request.onCut
      })
    }
    stream.resume()
    if (mark === marks.misdirected) {
      throw new ClusterError("misdirected", `The node ${to} is not the home of this conversation`)
    }
    if (mark === marks.busy) throw new ClusterError("unreached", `The node ${to} has too many requests at the moment`)
    throw new ClusterError(
      "unauthorized",
      `The node ${to} refused a request of this node: ${String(mark)}; the nodes need the same secret, protocol and time`
    )
  }

  /** Cuts every connection (INNER3). */
  close(): void {
    this.#isClosed = true
    // Without an error, a session waits until its node has taken what was sent.
    for (const session of this.#sessions) session.destroy(new Error("this node has stopped"))
  }

  /** Waits for the settings of a node: a signature covers the run in them (SEAL2). */
  async #meet(to: string, connection: Connection, signal: AbortSignal | undefined): Promise<void> {
    const { met } = connection
    connection.streams += 1
    await pause(this.#options.clock, this.#headMs, [signal, met.signal])
    // INNER9
    if (!met.signal.aborted && signal?.aborted !== true) await new Promise<void>(EventLoop.nextTurn)
    connection.streams -= 1
    if (met.signal.aborted) return
    if (signal?.aborted !== true) this.#leave(to, connection)
    else if (connection.isLeft) endUnused(connection)
    throw unreached(to, undefined)
  }

  #head(to: string, connection: Connection, request: InnerRequest): Promise<Answer> {
    const { method, path, note, body, signal, headMs = this.#headMs } = request
    const { secret, clock } = this.#options
    const { run, session } = connection
    if (session.closed || session.destroyed) throw unreached(to, undefined)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sealed = seal(secret, { method, path, to, run, note, bodyHash: hashOf(body) }, machineTime())
    const stream = session.request(
      {
        ":method": method,
        ":path": path,
        "content-length": body?.byteLength ?? 0,
        ...sealed,
        // These values differ in each request: the table of headers does not keep them.
        [http2.sensitiveHeaders]: Object.keys(sealed)
      },
      { endStream: body === undefined }
    )
    connection.streams += 1
    const began = clock.now()
    const over = (): void => {
      clock.clearTimeout(timer)
      signal?.removeEventListener("abort", leave)
    }
    const failed = (cause: unknown): void => {
      over()
      const isUnprocessed = !connection.isConnected || stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM
      reject(isUnprocessed ? unreached(to, cause) : silent(to, cause))
    }
    const cut = (why: string): void => {
      failed(new Error(why))
      stream.destroy()
    }
    const leave = (): void => {
      if (!(signal?.reason instanceof HttpError)) stream.close(clientLeft)
      cut("the reader left")
    }
    const moved = (): void => void (connection.movedAt = clock.now())
    let isAnswered = false
    const leftMs = (): number => Math.max(began, connection.movedAt) + headMs - clock.now()
    const look = (): void => {
      if (leftMs() > 0) timer = clock.setTimeout(look, leftMs())
      else EventLoop.nextTurn(giveUp)
    }
    // INNER9
    const giveUp = (): void => {
      if (isAnswered || stream.destroyed) return
      if (leftMs() > 0) return look()
      this.#leave(to, connection)
      cut("the node is silent")
    }
    let timer = clock.setTimeout(look, headMs)
    stream.on("headers", moved)
    stream.on("response", (headers) => {
      isAnswered = true
      clock.clearTimeout(timer)
      resolve({ headers, stream })
    })
    stream.on("error", failed)
    stream.once("close", () => {
      failed(new Error("the connection was cut"))
      connection.streams -= 1
      if (connection.isLeft) endUnused(connection)
    })
    if (signal?.aborted === true) leave()
    else signal?.addEventListener("abort", leave, { once: true })
    if (body !== undefined) send(stream, body, moved)
    return promise
  }

  /** The connection for the next request. */
  #connectionTo(to: string): Connection {
    const present = this.#connections.get(to)
    if (present !== undefined && !present.session.closed && !present.session.destroyed) return present
    const { tls } = this.#options
    const session = http2.connect(`${tls === undefined ? "http" : "https"}://${to}`, {
      ...connectionSettings,
      remoteCustomSettings: [runSetting],
      ...tls
    })
    const connection: Connection = {
      session,
      met: new AbortController(),
      run: undefined,
      movedAt: 0,
      isConnected: false,
      isLeft: false,
      streams: 0
    }
    this.#connections.set(to, connection)
    this.#sessions.add(session)
    session.once("connect", () => {
      // A session that was left while it connected has no settings.
      if (session.destroyed) return
      connection.isConnected = true
      session.setLocalWindowSize(windowBytes)
    })
    session.once("remoteSettings", ({ customSettings }) => {
      connection.run = customSettings?.[runSetting]
      connection.met.abort()
    })
    session.setTimeout(idleMs, () => endUnused(connection))
    session.on("goaway", () => this.#leave(to, connection))
    // Each stream reports its own failure.
    session.on("error", () => {})
    session.once("close", () => {
      connection.met.abort()
      this.#leave(to, connection)
      this.#sessions.delete(session)
    })
    return connection
  }

  /** Sends no further request on a connection. Its streams go on; each has its own deadline. */
  #leave(to: string, connection: Connection): void {
    if (this.#connections.get(to) === connection) this.#connections.delete(to)
    connection.isLeft = true
    endUnused(connection)
  }
}

/** Writes a body in pieces, and calls `moved` when a piece was taken. A stream that is cut takes no more. */
const send = (stream: http2.ClientHttp2Stream, body: Uint8Array, moved: () => void, at = 0): void => {
  const next = at + bodyPiece
  if (next >= body.byteLength) return void stream.end(body.subarray(at))
  stream.write(body.subarray(at, next), (error) => {
    if (error || stream.destroyed) return
    moved()
    send(stream, body, moved, next)
  })
}

/** Ends a connection without streams. With an error: else it would wait for a node that may be frozen. */
const endUnused = ({ session, streams }: Connection): void => {
  if (streams === 0 && !session.destroyed) session.destroy(new Error("the connection is not used"))
}

const unreached = (to: string, cause: unknown): ClusterError =>
  new ClusterError("unreached", `The node ${to} was not reached`, { cause })

const silent = (to: string, cause: unknown): ClusterError =>
  new ClusterError("silent", `The node ${to} gave no answer; it may have processed the request`, { cause })

const tooLarge = (): HttpError =>
  new HttpError(
    "headers_too_large",
    `A request that another node is to answer has at most ${mostNote} bytes of headers`
  )

/** The names of headers that belong to one connection. */
const ofConnection: ReadonlySet<string> = new Set(["date", "keep-alive", "te", "trailer"])

const responseOfNode = (received: Answer["headers"], stream: http2.ClientHttp2Stream, reading: Reading): Response => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received)) {
    if (name.startsWith(":") || ofConnection.has(name)) continue
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one)
  }
  const status = received[":status"] ?? 502
  if (status === 204 || status === 304) {
    stream.resume()
    return new Response(null, { status, headers })
  }
  return responseOf(new AnswerBody(stream, reading), { status, headers })
}
